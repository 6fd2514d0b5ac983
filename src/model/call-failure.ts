// Classifies the failure of a call: whether and when to try again, and which error to report if not.

import { thrownMessage, TuttiError } from "../protocol/error.ts";
import { CutReply } from "./collect-reply.ts";
import { type Overflow, overflowIn } from "./context-overflow.ts";
import { keyAdvice, type ResolvedModel } from "./resolve-model.ts";

/**
 * `throttled`: the provider asks for fewer calls, so all of them wait. `transient`: the next try may succeed. `final`: the
 * same call would fail again.
 */
export interface CallFailure {
  readonly kind: "throttled" | "transient" | "final";
  readonly error: TuttiError;
  /** The provider's own words, when it refused the request. */
  readonly text?: string;
  /** Set when the request is longer than the model takes. */
  readonly overflow?: Overflow;
  /** How long the provider asks us to wait. */
  readonly waitMs?: number;
}

const maxExcerpt = 300;
/** A refusal is short; a page of HTML need not be searched to its end. */
const longestText = 10_000;

export function readFailure(thrown: unknown, model: ResolvedModel): CallFailure {
  if (thrown instanceof TuttiError) {
    // A call that used up its total time would do so again; one that sent nothing for too long may not.
    return { kind: thrown.code === "deadline" && thrown.retry === "safe" ? "transient" : "final", error: thrown };
  }
  if (thrown instanceof CutReply) return unreachable(thrown, model);
  if (thrown instanceof Error && thrown.name === "AI_InvalidArgumentError") {
    // The provider's package has refused the request before it was sent.
    const says = "cannot be called so; check provider_options and the other settings of the model";
    const quote = thrownMessage(thrown.cause ?? thrown).slice(0, maxExcerpt);
    return { kind: "final", error: problem(model, { code: "invalid_input", says, cause: thrown, quote }) };
  }
  if (thrown instanceof Error && /^AI_Load(?:APIKey|Setting)Error$/.test(thrown.name)) {
    // A model object of a program reads its key itself, when it is called.
    const quote = thrown.message.slice(0, maxExcerpt);
    return {
      kind: "final",
      error: problem(model, { code: "refused", says: "cannot be called", cause: thrown, quote }),
    };
  }
  const seen = httpErrorIn(thrown);
  const overflow = overflowIn(`${seen.message} ${seen.body}`.slice(0, longestText));
  if (overflow !== undefined) return overflowed(overflow, seen, thrown, model);
  if (seen.status === undefined) return unreachable(thrown, model);
  // The response began without an error and could not be read to its end.
  if (seen.status < 400) return unreachable(new CutReply(seen.message, { cause: thrown }), model);
  return { ...byStatus({ ...seen, status: seen.status }, thrown, model), text: `${seen.message} ${seen.body}` };
}

interface HttpError {
  readonly status: number | undefined;
  readonly message: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Recognises errors of the providers' packages by their shape: comparing classes would mean to load the packages. An error
 * inside a stream is a plain object, which may hold the error once more inside, or only its text.
 */
function httpErrorIn(thrown: unknown): HttpError {
  if (typeof thrown === "string") return { status: undefined, message: thrown, body: "", headers: {} };
  const seen = fieldsOf(thrown);
  const inner = fieldsOf(seen["error"] ?? fieldsOf(seen["response"])["error"]);
  const headers = seen["responseHeaders"];
  const message = [thrown instanceof Error ? thrown.message : seen["message"], inner["message"]].find(isText) ?? "";
  const codes = [seen["code"], inner["code"], inner["type"]].filter(isText).join(" ");
  return {
    status:
      [seen["statusCode"], seen["code"], seen["status"], inner["code"], inner["status"]].find(isStatus) ??
      statusOf(`${isText(seen["type"]) ? seen["type"] : ""} ${codes}`),
    message: /context_length_exceeded/.test(codes) ? `${message} (context_length_exceeded)` : message,
    body: isText(seen["responseBody"]) ? seen["responseBody"] : "",
    headers: isTextRecord(headers) ? headers : {},
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isStatus(value: unknown): value is number {
  return typeof value === "number" && value >= 100 && value < 600;
}

/** An error inside a stream that has begun has a type or a code instead of a status. */
const statusOfType: readonly (readonly [RegExp, number])[] = [
  [/overloaded/, 529],
  [/insufficient_quota|billing/, 402],
  [/rate_limit|too_many/, 429],
  [/server_error|api_error/, 500],
  [/authentication/, 401],
  [/permission/, 403],
  [/not_found/, 404],
  [/request_too_large/, 413],
  [/invalid_request|invalid_argument|invalid_prompt/, 400],
];

function statusOf(type: string): number | undefined {
  return statusOfType.find(([pattern]) => pattern.test(type))?.[1];
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return typeof value === "object" && value !== null && Object.values(value).every((item) => typeof item === "string");
}

/** The server, or none of the servers behind it, takes a request that offers tools. */
const noTools =
  /no endpoints found that support (?:tool use|the provided 'tool_choice')|(?:does|do) not support (?:tools|tool use|tool calling|function calling)|tool choice requires --enable-auto-tool-choice|tools param requires --jinja|(?:tools?|tool use|function calling) (?:is|are) not (?:supported|enabled)/i;

const noCredit =
  /insufficient[_ ](?:quota|balance|credits|funds)|credit balance|billing_hard_limit|extra usage is required/i;

function byStatus(seen: HttpError & { readonly status: number }, cause: unknown, model: ResolvedModel): CallFailure {
  const { status, body } = seen;
  const text = `${seen.message} ${body}`;
  const { name } = model.provider;
  const about = { cause, status, quote: excerpt(seen, model) };
  const final = (code: TuttiError["code"], says: string, reason?: FailureReason): CallFailure => ({
    kind: "final",
    error: problem(model, { ...about, code, says, ...(reason === undefined ? {} : { reason }) }),
  });
  if (noTools.test(text)) {
    const says =
      'takes no tools; set "format": "fenced" for this model in the config, so that it calls them in its text';
    return final("refused", says, "no_tools");
  }
  if (/can only afford/i.test(text)) {
    const says = `cannot be called: the credit left does not cover so long a reply; lower max_output_tokens, or top it up with ${name}`;
    return final("refused", says, "no_credit");
  }
  if (status === 402 || noCredit.test(text)) {
    const says = `cannot be called: the account has no credit left; top it up with ${name}, or use another provider`;
    return final("refused", says, "no_credit");
  }
  if (status === 429 || status === 529) {
    const wait = waitIn(seen);
    const pause = wait.waitMs === undefined ? "" : ` and asks for a pause of ${Math.ceil(wait.waitMs / 1000)} s`;
    const says = `is over its rate limit${pause}; lower the concurrency or try later`;
    return { kind: "throttled", error: problem(model, { ...about, code: "busy", says }), ...wait };
  }
  // 408: the server gave up waiting; 409 and 425: the same request may be accepted a moment later.
  if (status >= 500 || status === 408 || status === 409 || status === 425) {
    const says =
      status === 408 ? "took too long on the provider's side; try later" : "failed on the provider's side; try later";
    const error = problem(model, { ...about, code: "busy", says });
    return { kind: "transient", error, ...waitIn(seen) };
  }
  if (status === 401 || status === 403) {
    return final("refused", `was not allowed; ${keyAdvice(model.provider)}`);
  }
  if (status === 404) return final("not_found", `is not a model of ${name}; \`tutti models\` shows what there is`);
  if (status === 413) {
    const says =
      "cannot take a request of so many bytes; send fewer or smaller pictures and files, or shorten the conversation";
    return { ...final("too_large", says), overflow: {} };
  }
  return final("invalid_input", "refused the request");
}

function overflowed(overflow: Overflow, seen: HttpError, cause: unknown, model: ResolvedModel): CallFailure {
  const says = "cannot take a request this long; shorten the conversation or use a larger model";
  const about = { cause, quote: excerpt(seen, model), ...(seen.status === undefined ? {} : { status: seen.status }) };
  const limit = overflow.limit === undefined ? {} : { limit: overflow.limit };
  return { kind: "final", overflow, error: problem(model, { ...about, code: "too_large", says, ...limit }) };
}

function unreachable(thrown: unknown, model: ResolvedModel): CallFailure {
  const quote = thrownMessage(thrown);
  const says =
    thrown instanceof CutReply
      ? "sent only part of a reply; try again"
      : `cannot be reached${model.provider.baseUrl === "" ? "" : ` at ${model.provider.baseUrl}`}`;
  return { kind: "transient", error: problem(model, { code: "io", says, cause: thrown, quote, retry: "safe" }) };
}

/** In the details of an error, for whoever can do something about it. */
type FailureReason = "no_tools" | "no_credit";

interface Problem {
  readonly code: TuttiError["code"];
  readonly says: string;
  readonly cause?: unknown;
  readonly status?: number;
  readonly quote?: string;
  readonly retry?: "safe";
  readonly reason?: FailureReason;
  /** The most tokens the model takes, as the provider said. */
  readonly limit?: number;
}

function problem(model: ResolvedModel, { code, says, cause, quote, retry, ...told }: Problem): TuttiError {
  const tail = quote === undefined || quote === "" ? "" : ` (${quote})`;
  return new TuttiError(code, `${model.name} ${says}${tail}`, {
    cause,
    details: { model: model.name, ...told },
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
