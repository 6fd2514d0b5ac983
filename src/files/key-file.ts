// The file that holds a signing key, readable by its owner alone.

import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { generateKey } from "../protocol/operator/token-key.ts";
import { createPrivateFile } from "./private-file.ts";

type KeyBytes = Uint8Array<ArrayBuffer>;
const maxBytes = 4096;

/** Returns undefined if there is no such file. The permissions are checked on the same open file that is read. */
export async function readKeyFile(path: string): Promise<KeyBytes | undefined> {
  try {
    // Non-blocking, because opening a named pipe would otherwise wait for a writer.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    if (!stat.isFile()) throw new TuttiError("invalid_input", `${path} is not a file; name a key file`);
    const me = process.getuid?.();
    if (me !== undefined && stat.uid !== me) {
      throw new TuttiError("refused", `the key file ${path} belongs to another user; name one of your own`);
    }
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      throw new TuttiError("refused", `the key file ${path} is open to other users; run: chmod 600 ${path}`);
    }
    if (stat.size > maxBytes) {
      throw new TuttiError(
        "invalid_input",
        `${path} is too large for a key file; name one of 32 bytes or 64 hex digits`,
      );
    }
    return keyIn(new Uint8Array(await file.readFile()), path);
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return undefined;
    throw asIoError(thrown, `could not read the key file ${path}`);
  }
}

/** Creates the file with a new key, and its folder. Returns false if another process created the file first. */
export async function createKeyFile(path: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return createPrivateFile(path, `${Buffer.from(generateKey()).toString("hex")}\n`);
  } catch (thrown) {
    throw asIoError(thrown, `could not create the key file ${path}`);
  }
}

/** A file of nothing but hex digits is read as hex: read as raw bytes, it would hold half the randomness of its length. */
function keyIn(content: KeyBytes, path: string): KeyBytes {
  const text = new TextDecoder("latin1").decode(content).trim();
  const bytes = /^[0-9a-f]+$/i.test(text) ? Uint8Array.from(Buffer.from(text, "hex")) : content;
  if (bytes.length >= 32) return bytes;
  const message = `the key in ${path} is too short; put 32 random bytes or 64 hex digits there, or move the file away to get a new key`;
  throw new TuttiError("invalid_input", message);
}

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === code;
}

function asIoError(thrown: unknown, message: string): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  return new TuttiError("io", `${message}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, {
    cause: thrown,
  });
}
