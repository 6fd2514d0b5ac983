// The key that every node of a cluster has and the database never sees: what is derived from it seals secrets and signs for nodes.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

import { TuttiError } from "../../protocol/error.ts";

export interface ClusterKey {
  /** `name` is that of the row: a sealed text that was moved to another row cannot be opened there. */
  seal(name: string, text: string): string;
  /** Throws `corrupt` for a text that was not sealed for this row with this key. */
  unseal(name: string, sealed: string): string;
  /** A keyed digest for what one node says to another. */
  mac(text: string): Buffer;
  /** The digests of a text that count: only one, except for moments after the key was changed. */
  accepted(text: string): readonly Buffer[];
  /** Kept in the database, so that a node with another key is noticed. Whoever reads it learns nothing about the key. */
  readonly check: string;
}

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const cipher = "aes-256-gcm";
const mark = "v1.";
const salt = "tutti cluster";

/** 64 hex digits. */
export function newClusterKey(): string {
  return randomBytes(keyBytes).toString("hex");
}

/** Throws `invalid_input`; the message does not show the text. */
export function clusterKeyFrom(text: string, where: string): ClusterKey {
  const raw = bytesIn(text.trim());
  if (raw === undefined) {
    const message = `${where} holds no key of a cluster: a key is 32 random bytes, as 64 hex digits or in base64; \`tutti cluster-key show\` on another node prints it`;
    throw new TuttiError("invalid_input", message);
  }
  const derived = (purpose: string): Buffer => Buffer.from(hkdfSync("sha256", raw, salt, purpose, keyBytes));
  const [sealing, signing, checking] = [derived("seal"), derived("node token"), derived("check")];
  const mac = (said: string): Buffer => createHmac("sha256", signing).update(said).digest();
  return {
    seal(name, plain) {
      const nonce = randomBytes(nonceBytes);
      const sealer = createCipheriv(cipher, sealing, nonce).setAAD(Buffer.from(name));
      const body = Buffer.concat([sealer.update(plain, "utf8"), sealer.final()]);
      return `${mark}${Buffer.concat([nonce, body, sealer.getAuthTag()]).toString("base64url")}`;
    },
    unseal(name, sealed) {
      const all = Buffer.from(sealed.slice(mark.length), "base64url");
      if (!sealed.startsWith(mark) || all.length < nonceBytes + tagBytes) throw unsealable(name);
      const opener = createDecipheriv(cipher, sealing, all.subarray(0, nonceBytes), { authTagLength: tagBytes });
      opener.setAAD(Buffer.from(name)).setAuthTag(all.subarray(-tagBytes));
      try {
        return Buffer.concat([opener.update(all.subarray(nonceBytes, -tagBytes)), opener.final()]).toString("utf8");
      } catch (thrown) {
        throw unsealable(name, thrown);
      }
    },
    mac,
    accepted: (said) => [mac(said)],
    check: createHmac("sha256", checking).update("check").digest("hex"),
  };
}

/** As this Tutti writes it, or as `openssl rand -base64 32` does. */
function bytesIn(text: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  return /^[A-Za-z0-9+/]{43}=$/.test(text) ? Buffer.from(text, "base64") : undefined;
}

function unsealable(name: string, cause?: unknown): TuttiError {
  const message = `${name} in the database cannot be opened with the key of this cluster: it was changed there, or sealed with another key; restore the database from a copy, or set it again`;
  return new TuttiError("corrupt", message, { cause });
}
