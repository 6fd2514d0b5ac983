// One run of the fuzzer: a real daemon, random requests on several connections until the time is over, a stop, and a report.

import { setTimeout as sleep } from "node:timers/promises";

import { type Api, type ApiOperation, readApi } from "./described-api.ts";
import { type DaemonWorld, daemonWorld } from "./fuzzed-daemon.ts";
import { type Memory, watchMemory } from "./memory-growth.ts";
import { planFor, type Planned, type Planner, planRequest } from "./plan-request.ts";
import { learn } from "./known-ids.ts";
import { chance } from "../support/seeded-random.ts";
import { planRaw, sendRaw } from "./raw-requests.ts";
import { type Outcome, type Sender, sender } from "./send-request.ts";
import { socketNoise } from "./socket-noise.ts";
import { unreadLists } from "./unread-lists.ts";

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** How many large results the state has. */
  readonly largeResults?: number;
}

export interface FuzzReport {
  readonly requests: number;
  readonly server_errors: number;
  readonly hangs: number;
  readonly crashes: number;
  /** Replies that are not what the description says. */
  readonly undeclared: number;
  /** How many replies each status had. */
  readonly statuses: Readonly<Record<string, number>>;
  /** How many operations were asked for something right and gave it. */
  readonly succeeded: readonly string[];
  readonly memory: Memory;
  /** What was found, in words; the first of each kind. */
  readonly findings: readonly string[];
}

const lanes = 16;
const mostFindings = 40;
const endMs = 120_000;
/** What the daemon may take at the most, with a heap of 192 MiB and large results in its state. */
const mostBytes = 512 * 2 ** 20;

class Count {
  requests = 0;
  server_errors = 0;
  hangs = 0;
  crashes = 0;
  undeclared = 0;
  readonly statuses: Record<string, number> = {};
  readonly succeeded = new Set<string>();
  readonly findings = new Map<string, string>();

  found(kind: "server_errors" | "hangs" | "crashes" | "undeclared", where: string, what: string): void {
    this[kind] += 1;
    const key = `${kind} ${where}`;
    if (this.findings.size < mostFindings && !this.findings.has(key))
      this.findings.set(key, `${kind}: ${where}: ${what}`);
  }

  status(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }
}

interface Run {
  readonly world: DaemonWorld;
  readonly api: Api;
  readonly count: Count;
  readonly sender: Sender;
  readonly over: () => boolean;
}

export async function runFuzz({ seconds, seed, largeResults = 200 }: FuzzOptions): Promise<FuzzReport> {
  const world = await daemonWorld(largeResults);
  const count = new Count();
  const send = sender(world.url, lanes);
  let ended: string | undefined;
  let stopping = false;
  void world.ended.then((how) => {
    ended = how;
    if (!stopping) count.found("crashes", "the daemon", `ended with ${how}: ${world.said().slice(-1_000)}`);
  });
  try {
    const api = readApi(JSON.parse((await world.call("GET", "/openapi.json")).text));
    const memory = watchMemory(world.pid);
    const until = Date.now() + seconds * 1000;
    const run: Run = { world, api, count, sender: send, over: () => ended !== undefined || Date.now() >= until };
    await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(run, seed * 1_000 + lane)));
    const held = memory.stop();
    if (held.grew) count.found("undeclared", "memory", `${held.middle} bytes in the middle, ${held.end} at the end`);
    if (held.most > mostBytes) count.found("undeclared", "memory", `${held.most} bytes at the most`);
    stopping = true;
    if (ended === undefined) await stopIt(run);
    const { requests, server_errors, hangs, crashes, undeclared, statuses } = count;
    return {
      requests,
      server_errors,
      hangs,
      crashes,
      undeclared,
      statuses,
      succeeded: [...count.succeeded].toSorted(),
      memory: held,
      findings: [...count.findings.values()],
    };
  } finally {
    send.close();
    await world.close();
  }
}

async function runLane(run: Run, seed: number): Promise<void> {
  const { world, api, count } = run;
  const luck = chance(seed);
  const planner: Planner = { api, chance: luck, known: world.known };
  while (!run.over()) {
    count.requests += 1;
    const planned = planRequest(planner);
    const operator = luck.any(world.known.operators.all);
    if (luck.oneIn(40)) {
      const raw = planRaw(luck, { host: world.url.host, planned });
      const { statuses, hang } = await sendRaw(world.url, raw);
      if (hang) count.found("hangs", raw.how, "no answer and no end");
      for (const status of statuses) {
        count.status(status);
        if (status >= 500) count.found("server_errors", raw.how, `answered with ${status}`);
      }
    } else if (luck.oneIn(200)) {
      await unreadLists(luck, world);
    } else if (luck.oneIn(80) && operator !== undefined) {
      const outcome = await socketNoise(luck, world.url, operator);
      if (outcome === "hang") count.found("hangs", "an operator's socket", "did not close");
    } else {
      judge(run, planned, await run.sender.send(planned));
      if (planned.operation?.operationId === "pause") await world.call("POST", "/v1/resume").catch(() => undefined);
    }
  }
}

function judge({ api, count, world, over }: Run, planned: Planned, outcome: Outcome): void {
  const { operation, how, method, target, body } = planned;
  const where = `${operation?.operationId ?? "none"}, ${how}`;
  const shown = `${method} ${target.slice(0, 200)} ${body?.toString("latin1", 0, 200) ?? ""}`;
  if (outcome.kind === "left") return;
  if (outcome.kind === "hang") return count.found("hangs", where, shown);
  if (outcome.kind === "broken") {
    // One that is refused before all of it was sent may find the connection closed instead of the answer.
    const large = (body?.length ?? 0) > 60_000 || target.length > 8_000;
    if (!large && !over()) count.found("undeclared", where, `no answer (${outcome.why}) to ${shown}`);
    return;
  }
  const { reply } = outcome;
  count.status(reply.status);
  if (reply.status >= 500)
    count.found("server_errors", where, `${reply.status} ${reply.text.slice(0, 300)} to ${shown}`);
  // Every path may be asked what it can do, and gives no body then.
  if (method === "HEAD" || (method === "OPTIONS" && reply.status === 204)) return;
  // A wrong method on a path that exists is answered by whatever operation has it.
  const meant = operation ?? api.operations.find((each) => each.method === method && samePath(each, target));
  const wrong = api.undeclared(meant, reply);
  if (wrong !== undefined)
    count.found("undeclared", where, `${wrong}: ${reply.status} ${reply.text.slice(0, 300)} to ${shown}`);
  if (reply.status >= 400 || meant === undefined) return;
  count.succeeded.add(meant.operationId);
  if (!reply.cut && reply.type.startsWith("application/json"))
    learn(world.known, meant.operationId, JSON.parse(reply.text));
  if (meant.operationId === "revokeKey" || meant.operationId === "leaveOperator") forget(world, target);
}

function samePath({ path }: ApiOperation, target: string): boolean {
  const [plain = ""] = target.split(/[?#]/);
  return new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, "[^/]+")}$`).test(plain);
}

function forget({ known }: DaemonWorld, target: string): void {
  const id = decodeURIComponent(target.split("?")[0]?.split("/").at(-1) ?? "");
  const key = known.keys.all.find((each) => each.id === id);
  const operator = known.operators.all.find((each) => each.sid === id);
  if (key !== undefined) known.keys.remove(key);
  if (operator !== undefined) known.operators.remove(operator);
}

/** The one route that ends the daemon, last: wrong first, then right, and it must end well. */
async function stopIt(run: Run): Promise<void> {
  const { world, api, count } = run;
  await world.call("POST", "/v1/resume").catch(() => undefined);
  const shutdown = api.operations.find(({ operationId }) => operationId === "shutdown");
  if (shutdown === undefined) throw new Error("the description has no shutdown");
  const planner: Planner = { api, chance: chance(1), known: world.known };
  const viewer = await world.call("POST", "/v1/keys", JSON.stringify({ name: "last", role: "viewer" }));
  const key = String(Reflect.get(Object(JSON.parse(viewer.text)), "key"));
  const wrong: Planned[] = [
    { ...planFor(planner, shutdown, "fits"), headers: { authorization: `Bearer ${key}` } },
    { ...planFor(planner, shutdown, "fits"), body: Buffer.from('{"grace_ms":-1}') },
    { ...planFor(planner, shutdown, "fits"), method: "GET" },
  ];
  for (const planned of wrong) {
    count.requests += 1;
    judge({ ...run, over: () => false }, { ...planned, operation: undefined }, await run.sender.send(planned));
  }
  const asked = await world.call("POST", "/v1/shutdown", JSON.stringify({ grace_ms: 500 }));
  if (asked.status !== 202) count.found("undeclared", "shutdown", `${asked.status} ${asked.text}`);
  const giveUp = new AbortController();
  const how = await Promise.race([world.ended, sleep(endMs, "never", { signal: giveUp.signal })]);
  giveUp.abort();
  if (how === "never") count.found("hangs", "shutdown", `still there after ${endMs} ms`);
  else if (how !== "status 0") count.found("crashes", "shutdown", `ended with ${how}: ${world.said().slice(-1_000)}`);
}
