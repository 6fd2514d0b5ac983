// `tutti token mint`: mints a capability token with a signing key that is kept in a file.
import { createKeyFile, readKeyFile } from "../../files/key-file.ts";
import { issueToken, type TokenClaims } from "../../protocol/operator/capability-token.ts";
import { generateKey, importKey } from "../../protocol/operator/token-key.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeUnbroken } from "../terminal/screen.ts";
import { parseVerb, requireKeyFile } from "../token-input.ts";

export interface TokenMintOptions {
  readonly key: string;
  readonly task: string;
  readonly verbs: readonly string[];
  readonly attempt: number;
  readonly agent?: string;
  readonly ttl: number;
  readonly json?: boolean;
}

export async function tokenMintCommand(options: TokenMintOptions): Promise<void> {
  const { key: keyFile, json, ...request } = options;
  const minted = await mintToken({ ...request, keyFile });
  if (minted.keyCreated) {
    warn(`made a new signing key, ${keyFile}; keep it: tokens can be verified only with the key they were minted with`);
  }
  await (json === true ? writeJson({ token: minted.token, claims: minted.claims }) : writeUnbroken(minted.token));
}

interface MintRequest {
  readonly task: string;
  readonly attempt: number;
  readonly verbs: readonly string[];
  readonly agent?: string;
  /** Seconds. */
  readonly ttl: number;
  readonly keyFile: string;
}

interface MintedToken {
  readonly token: string;
  readonly claims: TokenClaims;
  /** True when this call made the key file. */
  readonly keyCreated: boolean;
}

/**
 * Makes the key file when there is none.
 * @internal Exported for its tests only.
 */
export async function mintToken({ keyFile, ttl, ...request }: MintRequest): Promise<MintedToken> {
  const grant = { ...request, verbs: request.verbs.map(parseVerb) };
  const times = { now: Date.now(), life: ttl * 1000 };
  // Tried with a temporary key first: a grant that is refused must not leave a key file behind.
  await issueToken(grant, await importKey(generateKey()), times);
  const existing = await readKeyFile(keyFile);
  const keyCreated = existing === undefined && (await createKeyFile(keyFile));
  const key = await importKey(existing ?? (await requireKeyFile(keyFile)));
  const { token, claims } = await issueToken(grant, key, times);
  return { token, claims, keyCreated };
}
