// Calls the API by route name: the route table says how the request is made and how the reply is parsed.

import { type ErrorCode, errorTable, TuttiError } from "../protocol/error.ts";
import { describeIssues, issuesOf } from "../protocol/lenient-read.ts";
import { errorIn, Problem } from "../protocol/api/problem.ts";
import type { RouteArguments, RouteResult, RouteSpec } from "../protocol/api/route-shape.ts";
import { type RouteName, type Routes, routes } from "../protocol/api/routes.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import { trimEndOf } from "../protocol/trim-end.ts";

export interface ServiceOptions {
  /** The address of the service, such as `http://127.0.0.1:7878`. */
  readonly url: string;
  /** The bearer token. It is read before every request, so it may change. */
  readonly bearer: () => string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Aborts every request that is under way. */
  readonly signal?: AbortSignal;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the reply may take. */
  readonly timeoutMs?: number;
  /** The text of the body, byte for byte, in place of `body`. */
  readonly rawBody?: string;
}

export interface Service {
  readonly url: string;
  /** Throws the error the service replied with, or `unreachable` when the service does not reply. */
  readonly call: <N extends RouteName>(
    name: N,
    request: RouteArguments<Routes[N]>,
    options?: CallOptions,
  ) => Promise<RouteResult<Routes[N]>>;
  /** The unread response, for a stream. It may take any time. */
  open(name: RouteName, request: RequestParts, options: { accept: string; signal: AbortSignal }): Promise<Response>;
}

interface RequestParts {
  readonly params?: object;
  readonly query?: object;
  readonly headers?: object;
  readonly body?: unknown;
}

const defaultTimeoutMs = 30_000;

export function service(options: ServiceOptions): Service {
  const url = baseUrl(options.url);
  const fetchNow = options.fetch ?? fetch;

  async function send(spec: RouteSpec, parts: RequestParts, init: RequestInit): Promise<Response> {
    const headers = { authorization: `Bearer ${options.bearer()}`, ...textsIn(parts.headers), ...headersIn(init) };
    let response: Response;
    try {
      response = await fetchNow(`${url}${pathOf(spec, parts)}`, {
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
    request: RouteArguments<Routes[N]>,
    options?: CallOptions,
  ): Promise<RouteResult<Routes[N]>>;
  async function call(name: RouteName, parts: RequestParts, callOptions: CallOptions = {}): Promise<unknown> {
    const spec: RouteSpec = routes[name];
    const timeout = AbortSignal.timeout(callOptions.timeoutMs ?? defaultTimeoutMs);
    const signals = [timeout, options.signal, callOptions.signal].filter((each) => each !== undefined);
    const init = { signal: AbortSignal.any(signals), ...bodyOf(spec, parts.body, callOptions.rawBody) };
    const response = await send(spec, parts, init);
    const { reply } = spec;
    if (reply.type === "empty") return undefined;
    let value: unknown;
    try {
      value = await response.json();
    } catch (thrown) {
      if (thrown instanceof SyntaxError) throw notUnderstood(url, "the reply is not JSON");
      throw asUnreachable(thrown, url);
    }
    if (!("schema" in reply)) return value;
    const parsed = reply.schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw notUnderstood(url, `${spec.path}: ${describeIssues(issuesOf(parsed.error).slice(0, 1))}`);
  }

  return {
    url,
    call,
    open: (name, parts, { accept, signal }) => send(routes[name], parts, { signal, headers: { accept } }),
  };
}

function baseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw new TuttiError("usage", `${text} is not the address of a service; write it like http://127.0.0.1:7878`);
  }
  return trimEndOf(url.href, "/");
}

function pathOf({ path }: RouteSpec, { params, query }: RequestParts): string {
  const values: Readonly<Record<string, string>> = textsIn(params);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const search = new URLSearchParams(textsIn(query)).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

/** The values as text, without those that are undefined. */
function textsIn(values: object | undefined): Record<string, string> {
  const defined = Object.entries(values ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.map(([name, value]) => [name, String(value)]));
}

function headersIn({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

function bodyOf({ body }: RouteSpec, value: unknown, rawBody: string | undefined): RequestInit {
  if (body === undefined || (value === undefined && rawBody === undefined)) return {};
  const type = body.type === "text" ? "text/plain; charset=utf-8" : "application/json";
  const text = rawBody ?? (body.type === "text" && typeof value === "string" ? value : JSON.stringify(value));
  return { body: text, headers: { "content-type": type } };
}

/** A request that the caller aborted stays an `AbortError`. */
function asUnreachable(thrown: unknown, url: string): unknown {
  if (!(thrown instanceof Error) || thrown.name === "AbortError") return thrown;
  const why = thrown.name === "TimeoutError" ? "it took too long" : causeOf(thrown);
  const message = `no reply from ${url}: ${why}; check with \`tutti status\` whether the service is running`;
  return new TuttiError("unreachable", message, { cause: thrown, details: { url } });
}

function causeOf({ cause, message }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.message === "" && "code" in cause ? String(cause.code) : cause.message;
}

const largestProblem = 1_000_000;

async function refusal(response: Response, url: string): Promise<TuttiError> {
  const text = await response.text().catch(() => "");
  const problem = Problem.safeParse(text.length > largestProblem ? undefined : parseJson(text));
  if (problem.success) return withReason(errorIn(problem.data), problem.data);
  const { status } = response;
  const code = Object.entries(codes).find(([, statuses]) => statuses.includes(status))?.[0];
  const known = code !== undefined && isCode(code) ? code : status >= 500 ? "unreachable" : "refused";
  return new TuttiError(known, `${url} replied with status ${status} and no reason; check that a Tutti runs there`, {
    details: { url, status },
  });
}

/** The statuses that say something even without a problem document, such as those of a proxy in between. */
const codes: Readonly<Partial<Record<ErrorCode, readonly number[]>>> = {
  unauthorized: [401],
  not_found: [404],
  too_large: [413],
  slow_down: [429],
};

function isCode(text: string): text is ErrorCode {
  return Object.hasOwn(errorTable, text);
}

/** When a worker is refused, the problem document has the reason as an extra member. */
function withReason(error: TuttiError, problem: Problem): TuttiError {
  const { error: reason, conflicts } = problem;
  if (typeof reason !== "string") return error;
  const details = { ...error.details, reason, ...(Array.isArray(conflicts) ? { conflicts } : {}) };
  return new TuttiError(error.code, error.message, { retry: error.retry, details });
}

function notUnderstood(url: string, what: string): TuttiError {
  const message = `${url} sent a reply that this version does not understand (${what}); use the same version on both sides`;
  return new TuttiError("newer", message, { details: { url } });
}
