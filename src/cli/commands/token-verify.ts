// `tutti token verify`: checks a capability token against a signing key and prints its claims.
import {
  checkClaims,
  maxTokenLength,
  openToken,
  type RefusedToken,
  type TokenClaims,
} from "../../protocol/operator/capability-token.ts";
import { TuttiError } from "../../protocol/error.ts";
import { importKey } from "../../protocol/operator/token-key.ts";
import { readText } from "../input.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { parseVerb, requireKeyFile } from "../token-input.ts";

export interface TokenVerifyOptions {
  readonly key: string;
  readonly verb?: string;
  readonly task?: string;
  readonly attempt?: number;
  readonly json?: boolean;
}

export async function tokenVerifyCommand(token: string | undefined, options: TokenVerifyOptions): Promise<void> {
  const { key: keyFile, json, ...demand } = options;
  const text = token === undefined || token === "-" ? await readText(undefined, 2 * maxTokenLength) : token;
  const claims = await verifyToken({ ...demand, token: text, keyFile });
  await (json === true ? writeJson(claims) : writeLine(claimLines(claims).join("\n")));
}

interface VerifyRequest {
  /** May have white space around it. */
  readonly token: string;
  readonly keyFile: string;
  readonly verb?: string;
  readonly task?: string;
  readonly attempt?: number;
}

/**
 * Always checks form, signature and expiry; checks verb, task and attempt when they are given.
 * @internal Exported for its tests only.
 */
export async function verifyToken(request: VerifyRequest): Promise<TokenClaims> {
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

function refusal({ reason, message }: RefusedToken): TuttiError {
  const code = reason === "malformed" ? "invalid_input" : reason === "expired" ? "expired" : "refused";
  return new TuttiError(code, message, { details: { reason } });
}

function claimLines({ task, attempt, agent, verbs, expires_at, nonce }: TokenClaims): string[] {
  return [
    `${dim("task")}     ${bold(task)}`,
    `${dim("attempt")}  ${attempt}`,
    ...(agent === undefined ? [] : [`${dim("agent")}    ${agent}`]),
    `${dim("verbs")}    ${verbs.join(", ")}`,
    `${dim("expires")}  ${new Date(expires_at).toISOString()}`,
    `${dim("nonce")}    ${nonce}`,
  ];
}
