// The key that signs workers' tokens and request ids: in a file of the state folder, its owner's alone.

import { createHmac } from "node:crypto";

import { createKeyFile, readKeyFile } from "../../files/key-file.ts";
import { TuttiError } from "../../protocol/error.ts";
import { importKey, type TokenKey } from "../../protocol/operator/token-key.ts";

export interface SigningKey {
  readonly tokens: TokenKey;
  /** A keyed digest in hex; the purpose keeps what is signed for one use from passing in another. */
  mac(purpose: string, text: string): string;
}

/** Made when there is none. Tokens outlive a restart, since their key does. */
export async function openSigningKey(path: string): Promise<SigningKey> {
  const found = await readKeyFile(path);
  if (found !== undefined) return signingKey(found);
  await createKeyFile(path);
  const made = await readKeyFile(path);
  if (made === undefined) throw new TuttiError("io", `the signing key ${path} is gone again; who removes it?`);
  return signingKey(made);
}

async function signingKey(raw: Uint8Array<ArrayBuffer>): Promise<SigningKey> {
  return {
    tokens: await importKey(raw),
    mac: (purpose, text) => createHmac("sha256", raw).update(`${purpose}\0${text}`).digest("hex"),
  };
}
