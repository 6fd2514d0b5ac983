// Capability tokens: the authority that a worker outside the daemon carries, and the order in which it is checked.
import { z } from "zod";
import { TuttiError } from "../error.ts";
import { describeIssues, issuesOf } from "../lenient-read.ts";
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { toHex } from "./digest.ts";
import type { TokenKey } from "./token-key.ts";

/** What a worker may do. There is no wildcard: a token names each verb it grants. */
export const WorkerVerb = z.enum(["ask", "events", "prompt", "result"]);
export type WorkerVerb = z.infer<typeof WorkerVerb>;

const name = z
  .string()
  .max(256)
  .refine(
    (text) => text.trim() !== "" && text.isWellFormed() && !/\p{Cc}/u.test(text),
    "must be text, not blank, without control characters",
  );

export const TokenClaims = z.strictObject({
  task: name,
  attempt: z.int().min(1).max(0xffff_ffff),
  agent: name.optional(),
  /** Sorted, each once. */
  verbs: z
    .tuple([WorkerVerb], WorkerVerb)
    .refine(
      (verbs) => new Set(verbs).size === verbs.length && verbs.join() === verbs.toSorted().join(),
      "must be sorted",
    ),
  /** Unix milliseconds; from this instant on the token is not valid. */
  expires_at: z.int().min(0),
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
});
export type TokenClaims = z.infer<typeof TokenClaims>;

export interface TokenGrant {
  readonly task: string;
  readonly attempt: number;
  readonly agent?: string | undefined;
  readonly verbs: readonly WorkerVerb[];
}

/** What a use of a token needs it to grant. `now` is Unix milliseconds. */
export interface TokenDemand {
  readonly now: number;
  readonly verb: WorkerVerb;
  readonly task: string;
  readonly attempt: number;
}

/** In the order of the checks; each says only that its own check failed. */
export const tokenRefusals = {
  malformed: "this is not a token; send it exactly as it was handed out, nothing added or left out",
  bad_signature: "the token was altered or signed with another key; use the one that was handed out here",
  expired:
    "the token has expired; post the result if you have it, and otherwise ask for the work to be handed out again",
  verb_not_granted: "the token does not grant this verb; use one that does",
  wrong_task: "the token is for another task; use the one handed out with this task",
  wrong_attempt: "the token is for another attempt of this task; stop, this attempt is not yours to report on",
} as const;
export type TokenRefusal = keyof typeof tokenRefusals;

export interface RefusedToken {
  readonly ok: false;
  readonly reason: TokenRefusal;
  readonly message: string;
}
export type TokenCheck = { readonly ok: true; readonly claims: TokenClaims } | RefusedToken;
export interface IssuedToken {
  readonly ok: true;
  readonly token: string;
  readonly claims: TokenClaims;
}

export const defaultTokenLife = 30 * 60 * 1000;
export const maxTokenLife = 24 * 60 * 60 * 1000;
/** More than the longest names can need; anything longer is refused unread. */
export const maxTokenLength = 4096;
const version = "tt1";
const signatureLength = 43;

export interface TokenLife {
  /** Unix milliseconds. */
  readonly now: number;
  /** Milliseconds, at most a day. */
  readonly life?: number | undefined;
}

/** Throws `invalid_input` when the grant names no verb, an empty task, or a life out of range. */
export async function issueToken(grant: TokenGrant, key: TokenKey, { now, life }: TokenLife): Promise<IssuedToken> {
  const span = life ?? defaultTokenLife;
  if (!(span > 0 && span <= maxTokenLife)) {
    throw new TuttiError("invalid_input", "the life of a token must be longer than 0 and at most 24 hours");
  }
  const { task, attempt, agent, verbs } = grant;
  const parsed = TokenClaims.safeParse({
    task,
    attempt,
    ...(agent === undefined ? {} : { agent }),
    verbs: [...new Set(verbs)].toSorted(),
    expires_at: Math.floor(now + span),
    nonce: toHex(crypto.getRandomValues(new Uint8Array(16))),
  });
  if (!parsed.success) {
    const issues = issuesOf(parsed.error);
    throw new TuttiError("invalid_input", `this cannot be granted: ${describeIssues(issues)}`, { details: { issues } });
  }
  const signed = `${version}.${encodeClaims(parsed.data)}`;
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(signed));
  return { ok: true, token: `${signed}.${encodeBase64url(new Uint8Array(signature))}`, claims: parsed.data };
}

/**
 * Checks form and signature only: that the claims are ours, not that they still apply, so they must also pass
 * `checkClaims`. Nothing inside the payload is read before the signature over its exact text has been verified.
 */
export async function openToken(token: string, key: TokenKey): Promise<TokenCheck> {
  if (token.length > maxTokenLength) return refuse("malformed");
  const [prefix, payload, signature, ...rest] = token.split(".");
  if (prefix !== version || payload === undefined || signature === undefined || rest.length > 0) {
    return refuse("malformed");
  }
  const signatureBytes = signature.length === signatureLength ? decodeBase64url(signature) : undefined;
  if (signatureBytes === undefined || !/^[\w-]+$/.test(payload)) return refuse("malformed");
  const signed = new TextEncoder().encode(`${version}.${payload}`);
  if (!(await crypto.subtle.verify("HMAC", key, signatureBytes, signed))) return refuse("bad_signature");
  const claims = decodeClaims(payload);
  return claims !== undefined && encodeClaims(claims) === payload ? { ok: true, claims } : refuse("malformed");
}

/** Expiry, verbs, task, attempt, in this order. The claims behind a worker handle go through here as well. */
export function checkClaims(claims: TokenClaims, demand: TokenDemand): TokenCheck {
  // Negated, so that NaN as the time is refused.
  if (!(demand.now < claims.expires_at)) return refuse("expired");
  if (!claims.verbs.includes(demand.verb)) return refuse("verb_not_granted");
  if (claims.task !== demand.task) return refuse("wrong_task");
  if (claims.attempt !== demand.attempt) return refuse("wrong_attempt");
  return { ok: true, claims };
}

export async function verifyToken(token: string, key: TokenKey, demand: TokenDemand): Promise<TokenCheck> {
  const opened = await openToken(token, key);
  return opened.ok ? checkClaims(opened.claims, demand) : opened;
}

/** The same grant with a new expiry, for a token that is still valid. The old one is valid until its own expiry. */
export async function renewToken(
  token: string,
  key: TokenKey,
  { life, ...demand }: TokenDemand & TokenLife,
): Promise<IssuedToken | RefusedToken> {
  const checked = await verifyToken(token, key, demand);
  return checked.ok ? issueToken(checked.claims, key, { now: demand.now, life }) : checked;
}

/** One text per set of claims: fields in this order, no white space. */
function encodeClaims({ task, attempt, agent, verbs, expires_at, nonce }: TokenClaims): string {
  const json = JSON.stringify({ task, attempt, agent, verbs, expires_at, nonce });
  return encodeBase64url(new TextEncoder().encode(json));
}

function decodeClaims(payload: string): TokenClaims | undefined {
  const bytes = decodeBase64url(payload);
  if (bytes === undefined) return undefined;
  try {
    return TokenClaims.safeParse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))).data;
  } catch {
    return undefined;
  }
}

function refuse(reason: TokenRefusal): RefusedToken {
  return { ok: false, reason, message: tokenRefusals[reason] };
}
