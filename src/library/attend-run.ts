// Attends a run in a daemon: makes the calls of this program's tools, models and workflows, each once, and tells what became of them.

import type { Tutti } from "../client/client.ts";
import { backoffMs, isTransient, sleep } from "../client/retry.ts";
import type { Model } from "../model-port.ts";
import type { AttendNotice, AttendOrder, AttendReply } from "../protocol/api/attend-shapes.ts";
import { toTuttiError, TuttiError } from "../protocol/error.ts";
import { toFailure } from "../protocol/failure.ts";
import type { CodeTool } from "./code-tool.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import { NoticeQueue } from "./notice-queue.ts";
import { readWith } from "./read-schema.ts";
import { plain, remoteWorkflow, type RemoteWorkflow } from "./remote-workflow.ts";
import { runAttendedTool } from "./run-attended-tool.ts";
import { runWorkflow } from "./workflow-context.ts";

/** What this process has for a run. */
export interface AttendedCode {
  readonly tools: ReadonlyMap<string, CodeTool>;
  readonly workflows: ReadonlyMap<string, CodeWorkflow>;
  /** The models that are objects of this program. */
  readonly models: ReadonlySet<string>;
  readonly model: () => Promise<Model>;
}

type AttendClient = Pick<Tutti, "attend" | "reportAttended">;

interface AttendOptions {
  readonly task: string;
  /** The id of this process. */
  readonly process: string;
  readonly code: () => AttendedCode;
  readonly signal: AbortSignal;
}

/** How long one request waits for something to do. */
const pollMs = 15_000;
/** How long it takes until a request has left this process. */
const sentWithinMs = 4;
/** How long the daemon may be away. */
const giveUpAfterMs = 10 * 60_000;
/** A daemon that was killed before it had recorded an outcome asks for it again; not later than this. */
const keptMs = 10 * 60_000;

interface MadeCall {
  readonly aborted: AbortController;
  readonly kind: "tool" | "model" | "workflow";
  /** The life of the daemon that asked for it last. */
  life: string;
  /** What it has ended with, and when. */
  ended?: { readonly notice: AttendNotice; readonly at: number };
}

/** Ends when the run has ended, or with the signal. */
export async function attendRun(client: AttendClient, options: AttendOptions): Promise<void> {
  const { task, process, code, signal } = options;
  const attending = new Attending(client, options);
  let [after, life, failures, lastReply]: [number, string | undefined, number, number] = [0, undefined, 0, Date.now()];
  try {
    while (!signal.aborted) {
      const { tools, workflows, models } = code();
      const has = { tools: [...tools.keys()], models: [...models], workflows: [...workflows.keys()] };
      let reply: AttendReply;
      try {
        const request = { process, has, after, wait_ms: pollMs, ...(life === undefined ? {} : { life }) };
        reply = await client.attend(task, request, { signal });
      } catch (thrown) {
        if (signal.aborted) return;
        if (!isTransient(thrown) || Date.now() - lastReply > giveUpAfterMs) throw thrown;
        await sleep(backoffMs(failures), signal);
        failures += 1;
        continue;
      }
      if (reply.life !== life) after = 0;
      ({ life } = reply);
      [failures, lastReply] = [0, Date.now()];
      after = reply.orders.at(-1)?.number ?? after;
      // The next request is on its way before any code of the program runs, which may be long at it: while a request is open,
      // the daemon notices at once when this process ends.
      setTimeout(() => reply.orders.forEach(({ order }) => attending.take(order, reply.life)), sentWithinMs);
      if (reply.over) return;
    }
  } finally {
    await attending.close();
  }
}

class Attending {
  readonly #options: AttendOptions;
  readonly #queue: NoticeQueue;
  readonly #made = new Map<string, MadeCall>();
  readonly #workflows = new Map<string, RemoteWorkflow & { readonly task: string }>();
  #closed = false;

  constructor(client: AttendClient, options: AttendOptions) {
    this.#options = options;
    const { task, process } = options;
    this.#queue = new NoticeQueue({
      send: (notices, leaves) => client.reportAttended(task, { process, notices, leaves }),
      onLate: (call, life) => this.#late(call, life),
    });
  }

  take(order: AttendOrder, life: string): void {
    if (this.#closed) return;
    const { call } = order;
    switch (order.kind) {
      case "tool":
      case "model":
      case "workflow":
        return this.#make(order, life);
      case "abort":
        return order.op === undefined ? this.#abort(call) : this.#workflows.get(call)?.hear(order);
      default:
        return this.#workflows.get(call)?.hear(order);
    }
  }

  /** A call that comes again is the same call: it is under way, or has an outcome that is told again. */
  #make(order: Extract<AttendOrder, { readonly kind: "tool" | "model" | "workflow" }>, life: string): void {
    const { call, kind } = order;
    const known = this.#made.get(call);
    if (known !== undefined) {
      known.life = life;
      if (known.ended !== undefined) this.#queue.add(known.ended.notice);
      return;
    }
    this.#forgetOld();
    const made: MadeCall = { aborted: new AbortController(), kind, life };
    this.#made.set(call, made);
    const end = (notice: AttendNotice): void => {
      made.ended = { notice, at: Date.now() };
      this.#queue.add(notice);
    };
    this.#carryOut(order, made.aborted.signal).then(
      (value) => end({ kind: "result", call, value: plain(value) }),
      (thrown: unknown) => end({ kind: "failed", call, failure: toFailure(toTuttiError(thrown)) }),
    );
  }

  async #carryOut(
    order: Extract<AttendOrder, { readonly kind: "tool" | "model" | "workflow" }>,
    signal: AbortSignal,
  ): Promise<unknown> {
    const { tools, workflows, model } = this.#options.code();
    const { call, name } = order;
    const live = (channel: "text" | "reasoning" | "tool" | "notice" | "output", text: string): void =>
      this.#queue.add({ kind: "live", call, channel, text });
    if (order.kind === "tool") {
      const tool = tools.get(name);
      if (tool === undefined) throw new TuttiError("not_found", `the program has no tool ${name}`);
      return runAttendedTool(tool, order.input, { key: call, signal, progress: (text) => live("output", text) });
    }
    if (order.kind === "model") {
      return (await model()).call(order.request, {
        signal,
        onText: (text) => live("text", text),
        onReasoning: (text) => live("reasoning", text),
        onTool: (text) => live("tool", text),
        onNotice: (text) => live("notice", text),
        onRetry: (again) => this.#queue.add({ kind: "again", call, again }),
      });
    }
    const workflow = workflows.get(name);
    if (workflow === undefined) throw new TuttiError("not_found", `the program has no workflow ${name}`);
    return this.#runWorkflow(workflow, order, signal);
  }

  async #runWorkflow(
    workflow: CodeWorkflow,
    { call, task, attempt, name, input }: Extract<AttendOrder, { readonly kind: "workflow" }>,
    signal: AbortSignal,
  ): Promise<unknown> {
    // The daemon has begun it anew, so nobody hears the one from before.
    for (const [other, { task: same }] of this.#workflows) if (same === task) this.#abort(other);
    const remote = remoteWorkflow({
      task,
      attempt,
      agent: name,
      tell: (report) => {
        if (report.kind !== "progress") this.#queue.add({ call, ...report });
        else this.#queue.add({ kind: "live", call, channel: "output", op: report.op, text: report.text });
      },
      nameOf: (agent) => (typeof agent === "string" ? agent : agent.name),
    });
    this.#workflows.set(call, { ...remote, task });
    signal.addEventListener("abort", () => remote.hear({ kind: "abort" }), { once: true });
    try {
      return await runWorkflow(workflow, remote.port, await readWith(workflow.input, input, `the input of ${name}`));
    } finally {
      this.#workflows.delete(call);
    }
  }

  /** A daemon that was started anew, or the next node, may not have come to the call yet, and then asks for it. */
  #late(call: string, life: string): void {
    const made = this.#made.get(call);
    const mayBeAskedFor = made?.kind !== "workflow" && life !== "" && made?.life !== life;
    if (!mayBeAskedFor) this.#abort(call);
  }

  #abort(call: string): void {
    const made = this.#made.get(call);
    if (made !== undefined && made.ended === undefined) {
      made.aborted.abort(new TuttiError("canceled", "the call was canceled"));
    }
  }

  #forgetOld(): void {
    const until = Date.now() - keptMs;
    for (const [call, { ended }] of this.#made) {
      if (ended === undefined) continue;
      if (ended.at > until) return;
      this.#made.delete(call);
    }
  }

  /** What is under way is given up, and the daemon is told that nobody makes it any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { aborted, ended } of this.#made.values()) {
      if (ended === undefined) aborted.abort(new TuttiError("stopped", "the program has closed its Tutti"));
    }
    await this.#queue.close();
  }
}
