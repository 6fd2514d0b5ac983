// `tutti context add`: keeps the address and the key of a daemon elsewhere under a name.
import { resolve } from "node:path";

import { TuttiError } from "../../protocol/error.ts";
import { readText } from "../input.ts";
import { checkContextName, contextsFile, readContexts, writeContexts } from "../remote/contexts.ts";
import { checkUrl } from "../remote/find-target.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { canPrompt, promptSecret } from "../terminal/terminal-prompt.ts";

export interface ContextAddOptions {
  readonly url: string;
  readonly keyFile?: string;
  readonly insecure?: boolean;
  readonly json?: boolean;
}

const largestInput = 16 * 1024;

export async function contextAddCommand(name: string, options: ContextAddOptions): Promise<void> {
  checkContextName(name);
  const insecure = options.insecure === true;
  const url = checkUrl(options.url, insecure);
  const access = options.keyFile === undefined ? { key: await readKey(url) } : { key_file: resolve(options.keyFile) };
  const known = readContexts();
  const context = { url, ...access, ...(insecure ? { insecure } : {}) };
  writeContexts({ ...known, contexts: { ...known.contexts, [name]: context } });
  if (options.json === true) return writeJson({ name, url });
  await writeLine(
    `${name} is ${url}, kept in ${contextsFile()}; say --context ${name}, or \`tutti context use ${name}\``,
  );
}

async function readKey(url: string): Promise<string> {
  const typed = canPrompt() ? await promptSecret(`an API key for ${url} (it is not shown): `) : undefined;
  const key = (typed ?? (canPrompt() ? "" : await readText("-", largestInput))).trim();
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  throw new TuttiError("invalid_input", "that is no key; `tutti keys add` on the daemon's machine makes one");
}
