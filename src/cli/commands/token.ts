// `tutti token`: mints and verifies capability tokens with a signing key kept in a file.
import { TuttiError } from "../../protocol/error.ts";
import {
  checkClaims,
  issueToken,
  maxTokenLength,
  openToken,
  WorkerVerb,
  type RefusedToken,
  type TokenClaims,
} from "../../protocol/operator/capability-token.ts";
import { generateKey, importKey } from "../../protocol/operator/token-key.ts";
import { readText } from "../input.ts";
import { createKeyFile, readKeyFile } from "../../files/key-file.ts";
import type { MintOptions, VerifyOptions } from "../declare/protocol-commands.ts";
import { bold, dim, warn, writeLine } from "../terminal/output.ts";

export async function mintCommand(options: MintOptions): Promise<void> {
  const { key: keyFile, json, ...request } = options;
  const minted = await mintToken({ ...request, keyFile });
  if (minted.keyCreated) warn(`made a new signing key, ${keyFile}; keep it, tokens of another key do not pass`);
  await writeLine(json === true ? JSON.stringify({ token: minted.token, claims: minted.claims }) : minted.token);
}

export async function verifyCommand(token: string | undefined, options: VerifyOptions): Promise<void> {
  const { key: keyFile, json, ...demand } = options;
  const text = token === undefined || token === "-" ? await readText(undefined, 2 * maxTokenLength) : token;
  const claims = await verifyTokenText({ ...demand, token: text, keyFile });
  await writeLine(json === true ? JSON.stringify(claims) : show(claims));
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

interface Minted {
  readonly token: string;
  readonly claims: TokenClaims;
  /** Whether the key file was made by this call. */
  readonly keyCreated: boolean;
}

/**
 * Makes the key file when there is none.
 * @internal Exported for its tests only.
 */
export async function mintToken({ keyFile, ttl, ...request }: MintRequest): Promise<Minted> {
  const grant = { ...request, verbs: request.verbs.map(parseVerb) };
  const times = { now: Date.now(), life: ttl * 1000 };
  // Issued with a throw-away key first: a grant that is refused must not leave a key file behind.
  await issueToken(grant, await importKey(generateKey()), times);
  const existing = await readKeyFile(keyFile);
  const keyCreated = existing === undefined && (await createKeyFile(keyFile));
  const key = await importKey(existing ?? (await requireKeyFile(keyFile)));
  const { token, claims } = await issueToken(grant, key, times);
  return { token, claims, keyCreated };
}

interface VerifyRequest {
  /** White space around it is not part of it. */
  readonly token: string;
  readonly keyFile: string;
  readonly verb?: string;
  readonly task?: string;
  readonly attempt?: number;
}

/**
 * Form, signature and expiry always; verb, task and attempt only when given.
 * @internal Exported for its tests only.
 */
export async function verifyTokenText(request: VerifyRequest): Promise<TokenClaims> {
  const verb = request.verb === undefined ? undefined : parseVerb(request.verb);
  const key = await importKey(await requireKeyFile(request.keyFile));
  const opened = await openToken(request.token.trim(), key);
  if (!opened.ok) throw refusal(opened);
  const { claims } = opened;
  // What was not given is taken from the claims, so that its check passes.
  const checked = checkClaims(claims, {
    now: Date.now(),
    verb: verb ?? claims.verbs[0],
    task: request.task ?? claims.task,
    attempt: request.attempt ?? claims.attempt,
  });
  if (!checked.ok) throw refusal(checked);
  return checked.claims;
}

async function requireKeyFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const raw = await readKeyFile(path);
  if (raw !== undefined) return raw;
  throw new TuttiError("not_found", `there is no key file ${path}; name the one the token was minted with`);
}

function parseVerb(text: string): WorkerVerb {
  const parsed = WorkerVerb.safeParse(text);
  if (parsed.success) return parsed.data;
  const message = `there is no verb ${JSON.stringify(text)}; use ${WorkerVerb.options.join(", ")}`;
  throw new TuttiError("invalid_input", message);
}

function refusal({ reason, message }: RefusedToken): TuttiError {
  const code = reason === "malformed" ? "invalid_input" : reason === "expired" ? "expired" : "refused";
  return new TuttiError(code, message, { details: { reason } });
}

function show({ task, attempt, agent, verbs, expires_at, nonce }: TokenClaims): string {
  return [
    `${dim("task")}     ${bold(task)}`,
    `${dim("attempt")}  ${attempt}`,
    ...(agent === undefined ? [] : [`${dim("agent")}    ${agent}`]),
    `${dim("verbs")}    ${verbs.join(", ")}`,
    `${dim("expires")}  ${new Date(expires_at).toISOString()}`,
    `${dim("nonce")}    ${nonce}`,
  ].join("\n");
}
