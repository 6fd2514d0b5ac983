// `tutti models login`: keeps the key of a provider in the state folder.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { givenFolder } from "../given-folder.ts";
import { readText } from "../input.ts";
import { stateFolder } from "../state-folder.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { canPrompt, promptSecret } from "../terminal/terminal-prompt.ts";

export interface ModelsLoginOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly json?: boolean;
}

const largestInput = 16 * 1024;

export async function modelsLoginCommand(host: Host, provider: string, options: ModelsLoginOptions): Promise<void> {
  const state = stateFolder(options.state);
  const { providers } = await host.setup({ state, folder: givenFolder(options.cwd) });
  const known = providers.find((each) => each.provider === provider);
  if (known === undefined) {
    const names = providers.map((each) => each.provider).join(", ");
    throw new TuttiError("not_found", `there is no provider ${provider} that needs a key; there are: ${names}`);
  }
  const key = (await readKey(provider)).trim();
  if (key === "") throw new TuttiError("invalid_input", "the key is empty; nothing was kept");
  const keys = await host.storedKeys(state);
  await keys.put(provider, key);
  if (options.json === true) return writeJson({ provider, kept: true });
  await writeLine(`the key of ${provider} is kept in ${keys.place}; a daemon uses it from now on`);
  const variable = known.key_env.find((name) => (process.env[name] ?? "").trim() !== "");
  if (variable !== undefined) note(dim(`where ${variable} is set, as in this shell, the variable is used instead`));
}

/** From the terminal without showing it, or from what is piped in. */
async function readKey(provider: string): Promise<string> {
  if (!canPrompt()) return readText("-", largestInput);
  const key = await promptSecret(`the key of ${provider} (it is not shown): `);
  if (key === undefined) throw new TuttiError("canceled", "nothing was kept");
  return key;
}
