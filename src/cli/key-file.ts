// The file a signing key is kept in: readable by its owner alone, made whole or not at all.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";

import { TuttiError } from "../protocol/error.ts";
import { generateKey } from "../protocol/operator/token-key.ts";

type KeyBytes = Uint8Array<ArrayBuffer>;
const maxBytes = 4096;

/** Undefined when there is no such file. The permissions checked are those of the very file that is read. */
export async function readKeyFile(path: string): Promise<KeyBytes | undefined> {
  try {
    // Non-blocking, or a named pipe would hold the open until somebody writes.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = await file.stat();
    if (!stat.isFile()) throw new TuttiError("invalid_input", `${path} is not a file; name a key file`);
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

/** Makes the file and its folder. False when another process made it first. */
export async function createKeyFile(path: string): Promise<boolean> {
  // Written under another name and linked when it is on disk, so nobody ever reads half a key.
  const draft = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await using file = await open(draft, "wx", 0o600);
    await file.writeFile(`${Buffer.from(generateKey()).toString("hex")}\n`);
    await file.sync();
    await link(draft, path);
    return true;
  } catch (thrown) {
    if (hasCode(thrown, "EEXIST")) return false;
    throw asIoError(thrown, `could not make the key file ${path}`);
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

/** A file of nothing but hex digits is read as hex even where it could pass for raw bytes: those would be half as random. */
function keyIn(content: KeyBytes, path: string): KeyBytes {
  const text = new TextDecoder("latin1").decode(content).trim();
  const bytes = /^[0-9a-f]+$/i.test(text) ? Uint8Array.from(Buffer.from(text, "hex")) : content;
  if (bytes.length >= 32) return bytes;
  const message = `the key in ${path} is too short; it needs 32 random bytes or 64 hex digits, or to be moved away for a new one`;
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
