// Keys that the shell has and the process that does the work lacks: a daemon keeps the environment it was started with.
import type { Tutti } from "../client/client.ts";
import type { ServiceSetup } from "../protocol/api/service.ts";
import { TuttiError } from "../protocol/error.ts";
import { commandLine } from "./connect.ts";
import { warn } from "./terminal/output.ts";

export interface MissingKey {
  readonly provider: string;
  /** It is set in this shell. */
  readonly variable: string;
}

export function missingKeys({ providers }: ServiceSetup, env: NodeJS.ProcessEnv = process.env): MissingKey[] {
  return providers.flatMap(({ provider, key_env, key_from }) => {
    const variable = key_env.find((name) => (env[name] ?? "").trim() !== "");
    return key_from !== null || variable === undefined ? [] : [{ provider, variable }];
  });
}

/** Names the variable and what to do, never the key. */
export function missingKeyText({ provider, variable }: MissingKey, state: string | undefined): string {
  const login = commandLine(state, `models login ${provider}`);
  const restart = `\`${commandLine(state, "down")}\`, then \`${commandLine(state, "up --detach")}\``;
  return `the process that does the work has no key for ${provider}: ${variable} is set in this shell, but not there; keep the key for both with \`${login}\`, or start the daemon again from this shell: ${restart}`;
}

/** Throws before any work is given to a process that has no key for the model, if this shell has one. */
export async function checkKeyFor(
  model: string,
  tutti: Tutti,
  { folder, state }: { readonly folder: string; readonly state: string | undefined },
): Promise<void> {
  const missing = (await missingAt(tutti, folder)).find(({ provider }) => model.startsWith(`${provider}/`));
  if (missing === undefined) return;
  const message = missingKeyText(missing, state);
  throw new TuttiError("refused", message, { details: { provider: missing.provider, key_env: missing.variable } });
}

/** Warns after a failure that was told in `text`, if it may be because of a key that only this shell has. */
export async function warnOfMissingKey(tutti: Tutti, text: string, state: string | undefined): Promise<void> {
  for (const missing of await missingAt(tutti, undefined)) {
    if (text.includes(missing.variable)) warn(missingKeyText(missing, state));
  }
}

/** None when the process cannot tell: another version does not know the question, and a viewer may not ask it. */
async function missingAt(tutti: Tutti, folder: string | undefined): Promise<MissingKey[]> {
  try {
    return missingKeys(await tutti.setup(folder === undefined ? {} : { folder }));
  } catch {
    return [];
  }
}
