// Plans one request from an operation of the API: a correct one, or one that is wrong in one of many ways.

import type { Api, ApiOperation } from "./described-api.ts";
import { damagedBody } from "./broken-bodies.ts";
import { fitting, type Maker, nearlyFitting, strangeText } from "./make-value.ts";
import { type Known, mayInvoke } from "./known-ids.ts";
import type { Chance } from "../support/seeded-random.ts";

export interface Planned {
  /** What the reply is held against; undefined where no operation is meant. */
  readonly operation: ApiOperation | undefined;
  readonly how: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** The caller goes away: before the body is whole, or as soon as all is sent. */
  readonly leave?: "in_body" | "at_once";
  /** The address to come from, where it matters to others who comes. */
  readonly from?: string;
  /** It is answered at the service's leisure: a stream, or a wait that was asked for. */
  readonly slow: boolean;
}

/** What may be tried on a daemon that has to live on. */
const lastOnly = new Set(["shutdown"]);

interface Draft {
  readonly params: Record<string, string>;
  readonly query: [string, string][];
  readonly headers: Record<string, string>;
  body: Buffer | undefined;
}

export interface Planner {
  readonly api: Api;
  readonly chance: Chance;
  readonly known: Known;
}

export function planRequest(planner: Planner): Planned {
  const { api, chance } = planner;
  const open = api.operations.filter(({ operationId }) => !lastOnly.has(operationId));
  const operation = balanced(planner, chance.any(open) ?? api.operations[0]);
  if (operation === undefined) throw new Error("the description has no operations");
  switch (chance.below(20)) {
    case 0:
      return withWrongBearer(planner, planFor(planner, operation, "fits"));
    case 1:
      return { ...planFor(planner, operation, "fits"), ...elsewhere(planner, operation) };
    case 2:
      return leaving(planner, planFor(planner, operation, "fits"));
    case 3:
    case 4:
      return planFor(planner, operation, "damaged");
    case 5:
    case 6:
    case 7:
      return planFor(planner, operation, "strange");
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
      return planFor(planner, operation, "nearly");
    default:
      return planFor(planner, operation, "fits");
  }
}

/** What was made is taken away again, so that the daemon does not grow by right. */
function balanced({ api, known }: Planner, chosen: ApiOperation | undefined): ApiOperation | undefined {
  const instead = { joinOperator: "leaveOperator", addKey: "revokeKey", invoke: "cancel" } as const;
  const id = chosen?.operationId;
  const full =
    (id === "joinOperator" && known.operators.full) ||
    (id === "addKey" && known.keys.full) ||
    (id === "invoke" && !mayInvoke(known));
  if (!full || !(id in instead)) return chosen;
  return api.operations.find(({ operationId }) => operationId === instead[id]);
}

export function planFor(
  planner: Planner,
  operation: ApiOperation,
  how: "fits" | "nearly" | "strange" | "damaged",
): Planned {
  const { chance, known } = planner;
  const operator = chance.any(known.operators.all);
  const worker = chance.any(known.workers.all);
  const pools: Readonly<Record<string, readonly string[]>> = {
    TaskId: known.tasks.all,
    AskId: operation.path.includes("{wait}") ? known.waits.all : known.asks.all,
    OperatorSid: operator === undefined ? [] : [operator.sid],
    task_id: worker === undefined ? [] : [worker.task],
    folder: [known.project],
    handoff: [known.handoff],
    name: operation.operationId === "agent" ? ["reader"] : [],
    id: operation.operationId === "revokeKey" ? known.keys.all.map(({ id }) => id) : [],
  };
  const maker: Maker = { api: planner.api, chance, pool: (name) => pools[name] ?? [] };
  const draft: Draft = { params: {}, query: [], headers: {}, body: undefined };
  const spoil = how === "strange" ? chance.any(operation.parameters)?.name : undefined;
  for (const { name, in: place, required, schema } of operation.parameters) {
    if (!required && name !== spoil && !chance.oneIn(3)) continue;
    const value = name === spoil ? strangeText(chance) : asText(parameterValue(maker, name, schema));
    if (place === "path") draft.params[name] = value;
    else if (place === "query") draft.query.push([name, value]);
    else if (/^[\x20-\x7e]*$/.test(value)) draft.headers[name] = value;
  }
  if (how === "strange" && (spoil === undefined || chance.oneIn(4))) {
    draft.query.push([strangeText(chance), strangeText(chance)]);
    if (draft.query[0] !== undefined && chance.oneIn(3)) draft.query.push(draft.query[0]);
  }
  fillBody(planner, maker, { operation, how, draft });
  const streams = Object.values(operation.responses).some(({ content = {} }) => "text/event-stream" in content);
  const stream = streams && chance.oneIn(3);
  if (stream) draft.headers["accept"] = "text/event-stream";
  const bearer = bearerFor(planner, operation, { operator: operator?.token, worker: worker?.bearer });
  if (bearer !== undefined) draft.headers["authorization"] = `Bearer ${bearer}`;
  const waits = Number(draft.query.find(([name]) => name === "wait_ms")?.[1] ?? 0);
  return {
    operation,
    how,
    method: operation.method,
    target: targetOf(operation.path, draft),
    headers: draft.headers,
    ...(draft.body === undefined ? {} : { body: draft.body }),
    slow: stream || waits > 1_000 || operation.operationId === "workerAsk",
  };
}

function parameterValue(maker: Maker, name: string, schema: Parameters<typeof fitting>[1]): unknown {
  // A wait is meant to be long; the run is not.
  if (name === "wait_ms" && !maker.chance.oneIn(20)) return maker.chance.below(200);
  return fitting(maker, schema, name);
}

function fillBody(
  { chance, known }: Planner,
  maker: Maker,
  { operation, how, draft }: { readonly operation: ApiOperation; readonly how: string; readonly draft: Draft },
): void {
  const { requestBody } = operation;
  if (requestBody === undefined) {
    if (how === "damaged") {
      draft.body = Buffer.from(strangeText(chance));
      draft.headers["content-type"] = "application/json";
    }
    return;
  }
  const [type = "application/json", media] = Object.entries(requestBody.content)[0] ?? [];
  draft.headers["content-type"] = type;
  if (type === "text/plain") draft.body = Buffer.from(strangeText(chance).repeat(1 + chance.below(50)));
  else if (!requestBody.required && chance.oneIn(4)) return;
  else if (operation.operationId === "invoke" && how !== "strange")
    draft.body = Buffer.from(invocation(chance, known, how));
  else {
    const schema = media?.schema ?? {};
    const value = how === "nearly" ? nearlyFitting(maker, schema) : fitting(maker, schema);
    draft.body = Buffer.from(JSON.stringify(value) ?? "");
  }
  if (how === "damaged") {
    const { body, headers } = damagedBody(chance, draft.body);
    draft.body = body;
    Object.assign(draft.headers, headers);
  }
}

/** One that works, of its own, or one with one thing in it changed. */
function invocation(chance: Chance, { invocations }: Known, how: string): string {
  const file: unknown = JSON.parse(chance.any(invocations) ?? "{}");
  if (how !== "nearly") return `${JSON.stringify(file)}${" ".repeat(chance.below(50))}`;
  const maker: Maker = { api: { resolve: () => ({ const: file }) }, chance, pool: () => [] };
  return JSON.stringify(nearlyFitting(maker, {})) ?? "";
}

function bearerFor(
  { chance, known }: Planner,
  { security }: ApiOperation,
  own: { readonly operator: string | undefined; readonly worker: string | undefined },
): string | undefined {
  const scheme = Object.keys(chance.any(security) ?? {})[0];
  if (scheme === undefined) return undefined;
  if (scheme === "worker") return own.worker ?? known.admin;
  if (scheme === "session") return own.operator ?? known.admin;
  return chance.oneIn(8) ? (chance.any(known.keys.all)?.key ?? known.admin) : known.admin;
}

function withWrongBearer({ chance }: Planner, planned: Planned): Planned {
  const right = planned.headers["authorization"] ?? "Bearer x";
  const wrong = chance.pick([
    "",
    "Bearer",
    "Bearer ",
    "Basic YTpi",
    "bearer tk_x",
    right.slice(0, -1),
    `${right}x`,
    right.replace("Bearer ", "Bearer  "),
    `Bearer tk_${"A".repeat(43)}`,
    `Bearer wh-${"0".repeat(32)}`,
    `Bearer tt1.e30.${"A".repeat(43)}`,
    `Bearer ${"x".repeat(5_000)}`,
  ]);
  const { authorization: _, ...others } = planned.headers;
  // Each from an address of its own: those that come too often are slowed down.
  const from = `127.${1 + chance.below(250)}.${chance.below(250)}.${2 + chance.below(250)}`;
  return {
    ...planned,
    how: "wrong bearer",
    from,
    headers: wrong === "" ? others : { ...others, authorization: wrong },
  };
}

function elsewhere(
  { chance }: Planner,
  { path }: ApiOperation,
): Pick<Planned, "operation" | "how" | "method" | "target" | "slow"> {
  const filled = path.replaceAll(/\{[^}]*\}/g, "x");
  const target = chance.pick([
    filled,
    `${filled}/`,
    `/${filled}`,
    `${filled}/x`,
    `${filled}%2f`,
    `${filled}%`,
    filled.replace("/v1/", "/v1/../v1/"),
    filled.replace("/v1/", "/V1/"),
    filled.slice(0, -1),
    `${filled}?`,
    `${filled}??&&==`,
    `${filled}#x`,
    "*",
    "/",
    `/${"a".repeat(10_000)}`,
  ]);
  const method = chance.pick(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "PROPFIND"]);
  return { operation: undefined, how: "elsewhere", method, target, slow: false };
}

function leaving({ chance }: Planner, planned: Planned): Planned {
  const leave = planned.body === undefined || chance.oneIn(2) ? "at_once" : "in_body";
  return { ...planned, how: `leaves ${leave}`, leave };
}

function targetOf(path: string, { params, query }: Draft): string {
  const filled = path.replaceAll(/\{([^}]*)\}/g, (_, name: string) => encoded(params[name] ?? ""));
  const search = query.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  return search === "" ? filled : `${filled}?${search}`;
}

/** Lone surrogates cannot be written in a URL; what stands for them can. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

const asText = (value: unknown): string => (typeof value === "string" ? value : String(JSON.stringify(value)));
