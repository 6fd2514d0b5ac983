// Classifies the failure of a call: whether and when to try again, and which error to report if not.

import { thrownMessage, TuttiError } from "../protocol/error.ts";
import { CutReply, EmptyReply } from "./collect-reply.ts";
import type { ResolvedModel } from "./resolve-model.ts";

/**
 * `throttled`: the provider asks for fewer calls, so all of them wait. `transient`: the next try may succeed. `empty`: the
 * model said nothing, which is worth one more try. `final`: the same call would fail again.
 */
export interface CallFailure {
  readonly kind: "throttled" | "transient" | "empty" | "final";
  readonly error: TuttiError;
  /** How long the provider asks us to wait. */
  readonly waitMs?: number;
}

const maxExcerpt = 300;

export function readFailure(thrown: unknown, model: ResolvedModel): CallFailure {
  if (thrown instanceof TuttiError) {
    // A call that used up its total time would do so again; one that sent nothing for too long may not.
    return { kind: thrown.code === "deadline" && thrown.retry === "safe" ? "transient" : "final", error: thrown };
  }
  if (thrown instanceof EmptyReply) {
    const error = problem(model, {
      code: "task_failed",
      says: "answered with nothing, twice; ask another way or another model",
    });
    return { kind: "empty", error };
  }
  const seen = httpErrorIn(thrown);
  if (thrown instanceof CutReply || seen === undefined || seen.status === undefined) return unreachable(thrown, model);
  // The response began without an error and could not be read to its end.
  if (seen.status < 400) return unreachable(new CutReply(seen.message, { cause: thrown }), model);
  return byStatus({ ...seen, status: seen.status }, thrown, model);
}

interface HttpError {
  readonly status: number | undefined;
  readonly message: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Recognises errors of the providers' packages by their shape: comparing classes would mean to load the packages. */
function httpErrorIn(thrown: unknown): HttpError | undefined {
  if (typeof thrown !== "object" || thrown === null) return undefined;
  const seen: Record<string, unknown> = { ...thrown };
  const status = [seen["statusCode"], seen["code"], seen["status"]].find(isStatus);
  const headers = seen["responseHeaders"];
  const message = thrown instanceof Error ? thrown.message : seen["message"];
  return {
    status: status ?? statusOf(seen["type"]),
    message: typeof message === "string" ? message : "",
    body: typeof seen["responseBody"] === "string" ? seen["responseBody"] : "",
    headers: isTextRecord(headers) ? headers : {},
  };
}

function isStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 100 && value < 600;
}

/** An error inside a stream that has begun has a type instead of a status. */
function statusOf(type: unknown): number | undefined {
  if (typeof type !== "string") return undefined;
  return /overloaded/.test(type)
    ? 529
    : /rate_limit|too_many/.test(type)
      ? 429
      : /server_error|api_error/.test(type)
        ? 500
        : undefined;
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && Object.values(value).every((item) => typeof item === "string");
}

function byStatus(seen: HttpError & { readonly status: number }, cause: unknown, model: ResolvedModel): CallFailure {
  const { status, body } = seen;
  const text = `${seen.message} ${body}`;
  const { name, keyEnv } = model.provider;
  const about = { cause, status, quote: excerpt(seen, model) };
  const final = (code: TuttiError["code"], says: string): CallFailure => ({
    kind: "final",
    error: problem(model, { ...about, code, says }),
  });
  if (/insufficient_quota|credit balance|billing_hard_limit/i.test(text)) {
    return final("refused", `the account has no credit left; top it up with ${name}, or use another provider`);
  }
  if (status === 429 || status === 529) {
    const wait = waitIn(seen);
    const pause = wait.waitMs === undefined ? "" : ` and asks for a pause of ${Math.ceil(wait.waitMs / 1000)} s`;
    const says = `is over its rate limit${pause}; lower the concurrency or try later`;
    return { kind: "throttled", error: problem(model, { ...about, code: "busy", says }), ...wait };
  }
  if (status >= 500) {
    const error = problem(model, { ...about, code: "busy", says: "failed on the provider's side; try later" });
    return { kind: "transient", error, ...waitIn(seen) };
  }
  if (status === 401 || status === 403) {
    const key =
      keyEnv.length === 0 ? "the server wants a key: set key_env in the config" : `check ${keyEnv.join(" or ")}`;
    return final("refused", `was not allowed; ${key}`);
  }
  if (status === 404) return final("not_found", `is not a model of ${name}; \`tutti models\` shows what there is`);
  if (status === 413 || /context.{0,20}(length|window)|too (long|large)|maximum context/i.test(text)) {
    return final("too_large", "cannot take a request this long; shorten the conversation or use a larger model");
  }
  return final("invalid_input", "refused the request");
}

function unreachable(thrown: unknown, model: ResolvedModel): CallFailure {
  const quote = thrownMessage(thrown);
  const says =
    thrown instanceof CutReply
      ? "sent only part of a reply; try again"
      : `cannot be reached at ${model.provider.baseUrl}`;
  return { kind: "transient", error: problem(model, { code: "io", says, cause: thrown, quote, retry: "safe" }) };
}

interface Problem {
  readonly code: TuttiError["code"];
  readonly says: string;
  readonly cause?: unknown;
  readonly status?: number;
  readonly quote?: string;
  readonly retry?: "safe";
}

function problem(model: ResolvedModel, { code, says, cause, status, quote, retry }: Problem): TuttiError {
  const tail = quote === undefined || quote === "" ? "" : ` (${quote})`;
  return new TuttiError(code, `${model.name} ${says}${tail}`, {
    cause,
    details: { model: model.name, ...(status === undefined ? {} : { status }) },
    ...(retry === undefined ? {} : { retry }),
  });
}

/** One line of limited length, without the key, which a server may quote back. */
function excerpt({ message, body }: HttpError, { provider }: ResolvedModel): string {
  const text = (message === "" ? body : message).replaceAll(/\s+/g, " ").trim();
  const safe = provider.key === undefined ? text : text.replaceAll(provider.key, "…");
  return safe.length > maxExcerpt ? `${safe.slice(0, maxExcerpt)}…` : safe;
}

/** `retry-after` in seconds or as a date, `retry-after-ms`, or Google's `retryDelay` in the body. */
function waitIn({ headers, body }: HttpError): { readonly waitMs?: number } {
  const exact = Number(headers["retry-after-ms"]);
  if (exact > 0) return { waitMs: exact };
  const after = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(after)) return { waitMs: Number(after) * 1000 };
  const [until, now] = [Date.parse(after), Date.parse(headers["date"] ?? "")];
  if (until > now) return { waitMs: until - now };
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? {} : { waitMs: Number(delay) * 1000 };
}
