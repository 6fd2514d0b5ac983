// `tutti models logout`: removes the key of a provider that `tutti models login` kept.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { commandLine } from "../connect.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface ModelsLogoutOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function modelsLogoutCommand(host: Host, provider: string, options: ModelsLogoutOptions): Promise<void> {
  const removed = await (await host.storedKeys(stateFolder(options.state))).remove(provider);
  if (options.json === true) return writeJson({ provider, removed });
  if (!removed) {
    const message = `no key of ${provider} is kept; see \`${commandLine(options.state, "models")}\``;
    throw new TuttiError("not_found", message);
  }
  await writeLine(`the key of ${provider} is removed; calls under way finish with it`);
}
