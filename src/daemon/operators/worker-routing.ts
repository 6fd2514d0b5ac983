// Takes a worker's call at any node: the node that runs the task answers it, because the attempt, its quota and its lease are there.

import { service } from "../../client/call.ts";
import type { TreeOwner } from "../../cluster/tree-owner.ts";
import type { NodeFetch, OtherNode } from "../cluster/node-fetch.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type WorkerRefusalReason, workerRefusals } from "../../protocol/operator/worker.ts";
import { type Salt, idInName } from "../../store/names.ts";
import { forwardedHeader } from "../http/forwarded-header.ts";
import { claimsOf, type WorkerAuthContext } from "./authorize-worker.ts";
import type { WorkerReply } from "./worker-reply.ts";
import type { WorkerCalls, WorkerService } from "./worker-service.ts";

export interface WorkerRoutingOptions extends Pick<WorkerAuthContext, "records" | "signingKey" | "catchUp"> {
  /** Of the names that the store gives. */
  readonly salt: Salt;
  /** Waits while the tree of the task changes hands. */
  readonly ownerOf: (task: number, signal?: AbortSignal) => Promise<TreeOwner>;
  readonly fetchFrom: (target: OtherNode) => NodeFetch;
}

/** A node that is gone is declared dead after its lease; then another one has the task. */
const patienceMs = 60_000;
const tryAgainMs = 200;
/** How much longer than its wait a question may take on its way. */
const slackMs = 15_000;

const moved = new TuttiError("busy", "this task has just gone to another node; ask again");

/** The secret of the worker is checked before anything is passed on, and once more by the node that answers. */
export function routedWorkers(here: WorkerService, options: WorkerRoutingOptions): WorkerService {
  const { salt, ownerOf, fetchFrom } = options;

  const taskOf = async (bearer: string | undefined): Promise<number | undefined> => {
    const found = await claimsOf(options, bearer);
    return found.ok ? idInName(salt, found.claims.task) : undefined;
  };
  const isStillHere = async (task: number): Promise<boolean> => (await ownerOf(task)) === "here";

  /** While a call is under way, the tree may go. Then what was not found here says nothing. */
  const answerHere = async <T>(task: number, call: Call<T>): Promise<WorkerReply<T>> => {
    let reply: WorkerReply<T>;
    try {
      reply = await call(here);
    } catch (thrown) {
      if (thrown instanceof TuttiError && thrown.code === "not_found" && !(await isStillHere(task))) throw moved;
      throw thrown;
    }
    if (!reply.ok && !(await isStillHere(task))) throw moved;
    return reply;
  };

  /** Every call may be repeated: a result counts once, a question has a key, and so does progress. */
  const anywhere = async <T>(
    bearer: string | undefined,
    call: Call<T>,
    signal?: AbortSignal,
  ): Promise<WorkerReply<T>> => {
    const task = await taskOf(bearer);
    if (task === undefined || bearer === undefined) return call(here);
    for (const end = Date.now() + patienceMs; ;) {
      let owner: TreeOwner | undefined;
      try {
        owner = await ownerOf(task, signal);
        return await (owner === "here"
          ? answerHere(task, call)
          : call(workersAt(owner.url, { bearer, fetch: fetchFrom(owner), signal })));
      } catch (thrown) {
        // Whether the owner can be found is for this node to say: one that stops or was declared dead finds nobody any more.
        const passes = owner === undefined ? mayPass(thrown) : mayBeElsewhere(thrown);
        if (signal?.aborted === true || Date.now() > end || !passes) throw thrown;
        await new Promise((resolve) => setTimeout(resolve, tryAgainMs));
      }
    }
  };
  const onlyHere = async <T>(bearer: string | undefined, call: Call<T>): Promise<WorkerReply<T>> => {
    const task = await taskOf(bearer);
    if (task === undefined) return call(here);
    if (!(await isStillHere(task))) throw moved;
    return answerHere(task, call);
  };
  return {
    ...callsThrough(anywhere),
    whyUnknown: (bearer) => here.whyUnknown(bearer),
    forOtherNodes: callsThrough(onlyHere),
  };
}

type Call<T> = (workers: WorkerCalls) => Promise<WorkerReply<T>>;
type Through = <T>(bearer: string | undefined, call: Call<T>, signal?: AbortSignal) => Promise<WorkerReply<T>>;

function callsThrough(through: Through): WorkerCalls {
  return {
    prompt: (bearer, query) => through(bearer, (workers) => workers.prompt(bearer, query)),
    result: (bearer, body) => through(bearer, (workers) => workers.result(bearer, body)),
    submit: (bearer, text, query) => through(bearer, (workers) => workers.submit(bearer, text, query)),
    events(bearer, body) {
      const keyed = { ...body, key: body.key ?? crypto.randomUUID() };
      return through(bearer, (workers) => workers.events(bearer, keyed));
    },
    ask: (bearer, body, signal) => through(bearer, (workers) => workers.ask(bearer, body, signal), signal),
  };
}

/** The database may be away for a moment. */
function mayPass(thrown: unknown): boolean {
  return thrown instanceof TuttiError && (thrown.code === "unreachable" || thrown.code === "busy");
}

/** The owner may have died, or have given the tree away, since it was looked up. */
function mayBeElsewhere(thrown: unknown): boolean {
  return mayPass(thrown) || (thrown instanceof TuttiError && (thrown.code === "stopped" || thrown.code === "locked"));
}

interface Reaching {
  readonly bearer: string;
  readonly fetch: NodeFetch;
  readonly signal: AbortSignal | undefined;
}

/** The worker's calls at another node, made with the worker's own secret. */
function workersAt(url: string, { bearer, fetch: fetchNow, signal }: Reaching): WorkerCalls {
  const { call } = service({
    url,
    bearer: () => bearer,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set(forwardedHeader, "1");
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return fetchNow(`${pathname}${search}`, { ...init, headers });
    },
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    prompt: (_, query) => replied(call("workerPrompt", { query })),
    result: (_, body) => replied(call("workerResult", { body })),
    submit: (_, body, query) => replied(call("workerSubmit", { query, body })),
    events: (_, body) => replied(call("workerEvents", { body })),
    ask: (_, body) => replied(call("workerAsk", { body }, { timeoutMs: body.wait_ms + slackMs })),
  };
}

async function replied<T>(calling: Promise<T>): Promise<WorkerReply<T>> {
  try {
    return { ok: true, value: await calling };
  } catch (thrown) {
    const reason = thrown instanceof TuttiError ? thrown.details?.["reason"] : undefined;
    if (thrown instanceof TuttiError && isRefusal(reason)) return { ok: false, reason, message: thrown.message };
    throw thrown;
  }
}

function isRefusal(reason: unknown): reason is WorkerRefusalReason {
  return typeof reason === "string" && Object.hasOwn(workerRefusals, reason);
}
