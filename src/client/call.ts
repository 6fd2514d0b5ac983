// One call of the API by the name of its route: the request is made from the table, the reply is read by it.

import { type ErrorCode, errorTable, TuttiError } from "../protocol/error.ts";
import { describeIssues, issuesOf } from "../protocol/lenient-read.ts";
import { errorIn, Problem } from "../protocol/api/problem.ts";
import type { RouteResult, RouteArguments, RouteSpec } from "../protocol/api/route-shape.ts";
import { type RouteName, type Routes, routes } from "../protocol/api/routes.ts";

export interface ServiceOptions {
  /** Where the service is, such as `http://127.0.0.1:7878`. */
  readonly url: string;
  /** What is sent as the bearer; read before every request, so it may be renewed. */
  readonly bearer: () => string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** Ends everything that is under way. */
  readonly signal?: AbortSignal;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the answer may take. */
  readonly timeoutMs?: number;
  /** The body as it is, in place of the one given. */
  readonly raw?: string;
}

export interface Service {
  readonly url: string;
  /** Throws what the service refused with as if it had happened here; `unreachable` when it does not answer. */
  readonly call: <N extends RouteName>(
    name: N,
    given: RouteArguments<Routes[N]>,
    options?: CallOptions,
  ) => Promise<RouteResult<Routes[N]>>;
  /** The reply as it comes, for a stream; `accept` says what is wanted. There is no limit to how long it takes. */
  open(name: RouteName, given: Parts, options: { accept: string; signal: AbortSignal }): Promise<Response>;
}

interface Parts {
  readonly params?: object;
  readonly query?: object;
  readonly headers?: object;
  readonly body?: unknown;
}

const patienceMs = 30_000;

export function service(options: ServiceOptions): Service {
  const url = baseUrl(options.url);
  const send = options.fetch ?? fetch;

  async function request(spec: RouteSpec, parts: Parts, init: RequestInit): Promise<Response> {
    const headers = { authorization: `Bearer ${options.bearer()}`, ...textsIn(parts.headers), ...headersIn(init) };
    let response: Response;
    try {
      response = await send(`${url}${pathOf(spec, parts)}`, {
        ...init,
        method: spec.method,
        headers,
        redirect: "error",
      });
    } catch (thrown) {
      throw asUnreachable(thrown, url);
    }
    if (response.ok) return response;
    throw await refusal(response, url);
  }

  async function call<N extends RouteName>(
    name: N,
    given: RouteArguments<Routes[N]>,
    options?: CallOptions,
  ): Promise<RouteResult<Routes[N]>>;
  async function call(name: RouteName, parts: Parts, given: CallOptions = {}): Promise<unknown> {
    const spec: RouteSpec = routes[name];
    const timeout = AbortSignal.timeout(given.timeoutMs ?? patienceMs);
    const signals = [timeout, options.signal, given.signal].filter((each) => each !== undefined);
    const init = { signal: AbortSignal.any(signals), ...bodyOf(spec, parts.body, given.raw) };
    const response = await request(spec, parts, init);
    const { reply } = spec;
    if (reply.type === "empty") return undefined;
    let value: unknown;
    try {
      value = await response.json();
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw notUnderstood(url, "the answer is not JSON");
      throw asUnreachable(thrown, url);
    }
    if (!("schema" in reply)) return value;
    const read = reply.schema.safeParse(value);
    if (read.success) return read.data;
    throw notUnderstood(url, `${spec.path}: ${describeIssues(issuesOf(read.error).slice(0, 1))}`);
  }

  return {
    url,
    call,
    open: (name, parts, { accept, signal }) => request(routes[name], parts, { signal, headers: { accept } }),
  };
}

function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new TuttiError("usage", `${text} is no address of a service; write it like http://127.0.0.1:7878`);
  }
  return url.href.replace(/\/+$/, "");
}

function pathOf({ path }: RouteSpec, { params, query }: Parts): string {
  const values: Readonly<Record<string, string>> = textsIn(params);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const search = new URLSearchParams(textsIn(query)).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

/** Everything but what is undefined, as text. */
function textsIn(values: object | undefined): Record<string, string> {
  const given = Object.entries(values ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function headersIn({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

/** Text goes as it is, and so does `raw`; anything else as JSON. */
function bodyOf({ body }: RouteSpec, value: unknown, raw: string | undefined): RequestInit {
  if (body === undefined || (value === undefined && raw === undefined)) return {};
  const type = body.type === "text" ? "text/plain; charset=utf-8" : "application/json";
  const text = raw ?? (body.type === "text" && typeof value === "string" ? value : JSON.stringify(value));
  return { body: text, headers: { "content-type": type } };
}

/** What the caller itself ended stays what it is. */
function asUnreachable(thrown: unknown, url: string): unknown {
  if (!(thrown instanceof Error) || thrown.name === "AbortError") return thrown;
  const why = thrown.name === "TimeoutError" ? "it took too long" : causeOf(thrown);
  const message = `no answer from ${url}: ${why}; is the service running there? \`tutti status\` says`;
  return new TuttiError("unreachable", message, { cause: thrown, details: { url } });
}

function causeOf({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message === "" && "code" in cause ? String(cause.code) : cause.message;
}

const largestProblem = 1_000_000;

async function refusal(response: Response, url: string): Promise<TuttiError> {
  const text = await response.text().catch(() => "");
  const problem = Problem.safeParse(text.length > largestProblem ? undefined : jsonIn(text));
  if (problem.success) return withReason(errorIn(problem.data), problem.data);
  const { status } = response;
  const code = Object.entries(codes).find(([, statuses]) => statuses.includes(status))?.[0];
  const known = code !== undefined && isCode(code) ? code : status >= 500 ? "unreachable" : "refused";
  return new TuttiError(known, `${url} answered ${status} without saying why; is that a Tutti?`, {
    details: { url, status },
  });
}

/** What an answer that is no problem document, a proxy's for instance, can still tell. */
const codes: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {
  unauthorized: [401],
  not_found: [404],
  too_large: [413],
  slow_down: [429],
};

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text);
}

/** The reason a worker is refused with stands beside the problem's own members. */
function withReason(error: TuttiError, problem: Problem): TuttiError {
  const { error: reason, conflicts } = problem;
  if (typeof reason !== "string") return error;
  const details = { ...error.details, reason, ...(Array.isArray(conflicts) ? { conflicts } : {}) };
  return new TuttiError(error.code, error.message, { retry: error.retry, details });
}

function notUnderstood(url: string, what: string): TuttiError {
  const message = `${url} answers in a way this version does not understand (${what}); use the same version on both sides`;
  return new TuttiError("newer", message, { details: { url } });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
