// Named daemons elsewhere, with their keys: kept in one private file in the home folder of the person.
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";

const Context = z.strictObject({
  url: z.string(),
  key: z.string().optional(),
  /** The key is read from this file each time. */
  key_file: z.string().optional(),
  /** The person accepted that the key is sent without encryption. */
  insecure: z.boolean().optional(),
});
export type Context = z.infer<typeof Context>;

const Contexts = z.strictObject({
  /** The one that commands use which name none; absent when they work on this machine. */
  current: z.string().optional(),
  contexts: z.record(z.string(), Context),
});
export type Contexts = z.infer<typeof Contexts>;

/** Stands for this machine. */
export const localName = "local";

const folder = (): string => join(homedir(), ".tutti");
export const contextsFile = (): string => join(folder(), "contexts.json");

export function readContexts(): Contexts {
  const text = readPrivateFile(contextsFile());
  if (text === undefined) return { contexts: {} };
  const read = Contexts.safeParse(parseJson(text));
  if (read.success) return read.data;
  throw new TuttiError("corrupt", `${contextsFile()} cannot be understood; correct it, or move it away`);
}

export function writeContexts(contexts: Contexts): void {
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  // Whoever could exchange the file could send our keys to themselves.
  refuseSharedFolder(folder());
  replacePrivateFile(contextsFile(), `${JSON.stringify(contexts, null, 2)}\n`);
}

export function findContext({ contexts }: Contexts, name: string): Context {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return found;
  const names = [localName, ...Object.keys(contexts)].join(", ");
  throw new TuttiError("not_found", `there is no context ${name}; there are: ${names}`);
}

export function checkContextName(name: string): void {
  if (name !== localName && /^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) return;
  const message = `${JSON.stringify(name)} cannot be the name of a context; use letters, digits, dots and dashes, and not ${localName}, which is this machine`;
  throw new TuttiError("invalid_input", message);
}
