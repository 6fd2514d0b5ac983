// The key that signs workers' tokens and request ids: in a file of the state folder, or sealed in the database, the same for all nodes.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { createKeyFile, readKeyFile } from "../../files/key-file.ts";
import { TuttiError } from "../../protocol/error.ts";
import { generateKey, importKey, type TokenKey } from "../../protocol/operator/token-key.ts";
import type { ClusterKey } from "../cluster/cluster-key.ts";
import type { Documents } from "../documents/documents.ts";

export interface SigningKey {
  readonly tokens: TokenKey;
  /** A keyed digest in hex. The purpose keeps what is signed for one use from being accepted in another. */
  mac(purpose: string, text: string): string;
}

/**
 * Creates the key if there is none. Tokens stay valid over a restart, because their key does.
 * @internal Exported for its tests only.
 */
export async function openSigningKey(path: string): Promise<SigningKey> {
  const found = await readKeyFile(path);
  if (found !== undefined) return signingKey(found);
  await createKeyFile(path);
  const created = await readKeyFile(path);
  if (created !== undefined) return signingKey(created);
  throw new TuttiError("io", `the signing key ${path} was removed as soon as it was written; find out what removes it`);
}

export const signingKeyFile = (folder: string): string => join(folder, "signing.key");

/** Of a state folder, with its text, which is redacted everywhere. */
export async function openSigningKeyIn(
  folder: string,
): Promise<{ readonly signingKey: SigningKey; readonly text: string }> {
  const file = signingKeyFile(folder);
  return { signingKey: await openSigningKey(file), text: readFileSync(file, "utf8").trim() };
}

const document = "signing-key";

/** The first node makes it. A token that one node gave is good at every other. */
export async function openSharedSigningKey(
  documents: Documents,
  clusterKey: ClusterKey,
): Promise<{ readonly signingKey: SigningKey; readonly text: string }> {
  const text = await shareSigningKey(documents, clusterKey, Buffer.from(generateKey()).toString("hex"));
  return { signingKey: await signingKey(Uint8Array.from(Buffer.from(text, "hex"))), text };
}

/** Both are hex digits: what is to be shared if nothing is yet, and what is shared then. */
export async function shareSigningKey(documents: Documents, clusterKey: ClusterKey, text: string): Promise<string> {
  const sealed = await documents.change(document, (before) => {
    if (before !== undefined) return { result: before };
    const made = clusterKey.seal(document, text);
    return { after: made, result: made, sealedWith: clusterKey.check };
  });
  return clusterKey.unseal(document, sealed);
}

/** The text of the document, sealed with another key. */
export function resealedSigningKey(text: string, from: ClusterKey, to: ClusterKey): string {
  return to.seal(document, from.unseal(document, text));
}

/** In hex digits; undefined when no node has started yet. */
export function readSharedSigningKey(documents: Documents, clusterKey: () => ClusterKey): string | undefined {
  const sealed = documents.read(document);
  return sealed === undefined ? undefined : clusterKey().unseal(document, sealed);
}

async function signingKey(raw: Uint8Array<ArrayBuffer>): Promise<SigningKey> {
  return {
    tokens: await importKey(raw),
    mac: (purpose, text) => createHmac("sha256", raw).update(`${purpose}\0${text}`).digest("hex"),
  };
}
