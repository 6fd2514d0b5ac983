// Reads the input of a command, a file or standard input, as UTF-8 text up to a size limit.
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";

import { TuttiError } from "../protocol/error.ts";

export const defaultLimit = 8 * 1024 * 1024;

/** Reads the file, or standard input when `file` is `-` or undefined. */
export async function readText(file: string | undefined, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of openInput(file)) {
      size += chunk.length;
      if (size > limit) throw tooLarge(inputName(file), limit);
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw inputError(inputName(file), thrown);
  }
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes))
    throw new TuttiError("invalid_input", `${inputName(file)} is not UTF-8 text; convert it and try again`);
  return bytes.toString("utf8");
}

export function openInput(file: string | undefined): AsyncIterable<Buffer> {
  if (file !== undefined && file !== "-") return createReadStream(file);
  if (process.stdin.isTTY === true) {
    throw new TuttiError("usage", "there is no input: name a file or pipe text in, for instance `tutti … < reply.txt`");
  }
  return process.stdin;
}

export function tooLarge(what: string, limit: number): TuttiError {
  return new TuttiError("too_large", `${what} is over the limit of ${limit} bytes; raise it with --limit`);
}

export function inputError(name: string, thrown: unknown): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  const reason = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (reason === "ENOENT") return new TuttiError("not_found", `there is no file ${name}`, { cause: thrown });
  if (reason === "EISDIR")
    return new TuttiError("invalid_input", `${name} is a folder; name a file`, { cause: thrown });
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new TuttiError("io", `could not read ${name}: ${message}`, { cause: thrown });
}

export function inputName(file: string | undefined): string {
  return file === undefined || file === "-" ? "standard input" : file;
}
