// The processes of programs that attend runs here: which of them makes a call, and what becomes of the calls of one that is gone.

import { randomUUID } from "node:crypto";

import { z } from "zod";

import type { AttendedCall, Attendants, Clock, StepContext } from "../../ports.ts";
import {
  attendLeaseMs,
  type AttendNotice,
  type AttendReply,
  type AttendReport,
  type AttendReported,
  type AttendRequest,
} from "../../protocol/api/attend-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { errorOfFailure, type Failure } from "../../protocol/failure.ts";
import type { AskId, TaskId } from "../../protocol/ids.ts";
import type { Attended } from "../../protocol/invocation/attended.ts";
import { AttendedProcess, type ProcessTimes } from "./attended-process.ts";

interface AttendanceOptions extends Partial<ProcessTimes> {
  readonly clock: Clock;
  /** Settles a wait that ends when a process is there. */
  readonly settle: (wait: AskId, process: string) => Promise<unknown>;
}

interface Wanting {
  readonly wanted: Attended;
  readonly wait: AskId;
}

interface AttendedTree {
  readonly processes: Map<string, AttendedProcess>;
  readonly wanting: Set<Wanting>;
  /** Told when a process has come that was expected back. */
  readonly expecting: Set<() => void>;
}

/** What a step notes before the process is asked. */
const Noted = z.object({ attendant: z.string() });

const mostProcesses = 100;
const cutMs = 3_000;

export class Attendance implements Attendants {
  readonly #options: AttendanceOptions;
  readonly #times: ProcessTimes;
  readonly #trees = new Map<TaskId, AttendedTree>();
  /** Numbers of orders begin anew with each life. */
  readonly #life = randomUUID();

  constructor(options: AttendanceOptions) {
    this.#options = options;
    this.#times = { leaseMs: options.leaseMs ?? attendLeaseMs, cutMs: options.cutMs ?? cutMs };
  }

  // ---- what processes say

  async attend(tree: TaskId, request: AttendRequest, signal: AbortSignal): Promise<Omit<AttendReply, "over">> {
    const place = this.#placeOf(tree);
    const process = place.processes.get(request.process) ?? this.#welcome(tree, place, request.process);
    process.says(request.has);
    for (const tell of place.expecting) tell();
    this.#settleWanted(place);
    const after = request.life === this.#life ? request.after : 0;
    const orders = await process.next(after, request.wait_ms, signal);
    return { life: this.#life, lease_ms: this.#times.leaseMs, orders };
  }

  report(tree: TaskId, { process: id, notices, leaves }: AttendReport): AttendReported {
    const process = this.#trees.get(tree)?.processes.get(id);
    process?.heard();
    const late = new Set<string>();
    for (const notice of notices) {
      const talk = process?.talks.get(notice.call);
      if (talk === undefined) late.add(notice.call);
      else talk.hear(notice);
    }
    if (leaves && process !== undefined) this.#lose(tree, process);
    return { late: [...late], life: this.#life };
  }

  #welcome(tree: TaskId, place: AttendedTree, id: string): AttendedProcess {
    if (place.processes.size >= mostProcesses) {
      throw new TuttiError("conflict", `${mostProcesses} processes attend ${tree} already; end some of them first`);
    }
    const onSilent = (process: AttendedProcess): void => this.#lose(tree, process);
    const made = new AttendedProcess(id, { clock: this.#options.clock, ...this.#times, onSilent });
    place.processes.set(id, made);
    return made;
  }

  #lose(tree: TaskId, process: AttendedProcess): void {
    const place = this.#trees.get(tree);
    if (place?.processes.get(process.id) === process) place.processes.delete(process.id);
    process.end(processGone());
    this.#forgetIdle(tree);
  }

  /** The tree is over, or goes on at another node. */
  ended(tree: TaskId): void {
    const place = this.#trees.get(tree);
    this.#trees.delete(tree);
    for (const process of place?.processes.values() ?? []) process.end(processGone());
  }

  close(): void {
    for (const tree of this.#trees.keys()) this.ended(tree);
  }

  // ---- what tasks need

  /** One that has it; the one with the fewest calls under way. */
  processFor(tree: TaskId, wanted: Attended): AttendedProcess | undefined {
    const able = [...(this.#trees.get(tree)?.processes.values() ?? [])].filter((each) => each.has(wanted));
    return able.toSorted((a, b) => a.talks.size - b.talks.size)[0];
  }

  settleWhenThere(tree: TaskId, wanted: Attended, wait: AskId): void {
    const place = this.#placeOf(tree);
    place.wanting.add({ wanted, wait });
    this.#settleWanted(place);
  }

  async call(call: AttendedCall, step: Pick<StepContext, "key" | "noted" | "note" | "signal">): Promise<unknown> {
    const process = await this.#take(call, step);
    const { order, withinMs, live, onAgain } = call;
    return talkOver(process, step, {
      clock: this.#options.clock,
      withinMs,
      begin: () => process.send(order(step.key)),
      hear(notice) {
        if (notice.kind === "live") live?.(notice.channel, notice.text);
        else if (notice.kind === "again") onAgain?.(notice.again);
      },
    });
  }

  /** The process that has the call: the one that was noted before, or one that is noted now. */
  async #take(
    { tree, wanted }: AttendedCall,
    step: Pick<StepContext, "noted" | "note" | "signal">,
  ): Promise<AttendedProcess> {
    const earlier = Noted.safeParse(step.noted).data?.attendant;
    if (earlier !== undefined) {
      const back = await this.#back(tree, earlier, step.signal);
      if (back === undefined) throw processGone();
      return back;
    }
    const process = this.processFor(tree, wanted);
    if (process === undefined) throw unattended(wanted);
    await step.note({ attendant: process.id });
    if (process.isGone) throw unattended(wanted);
    return process;
  }

  /** After a restart the processes that are still there come back soon. */
  #back(tree: TaskId, id: string, signal: AbortSignal): Promise<AttendedProcess | undefined> {
    const place = this.#placeOf(tree);
    const found = place.processes.get(id);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => {
      const done = (process: AttendedProcess | undefined): void => {
        callOff();
        place.expecting.delete(look);
        signal.removeEventListener("abort", stop);
        resolve(process);
      };
      const stop = (): void => done(undefined);
      const look = (): void => {
        const came = place.processes.get(id);
        if (came !== undefined) done(came);
      };
      const callOff = this.#options.clock.timer(this.#times.leaseMs, stop);
      place.expecting.add(look);
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  #settleWanted(place: AttendedTree): void {
    for (const wanting of place.wanting) {
      const process = [...place.processes.values()].find((each) => each.has(wanting.wanted));
      if (process === undefined) continue;
      place.wanting.delete(wanting);
      // A wait that is settled already needs nothing more.
      this.#options.settle(wanting.wait, process.id).catch(() => undefined);
    }
  }

  #placeOf(tree: TaskId): AttendedTree {
    const known = this.#trees.get(tree);
    if (known !== undefined) return known;
    const made: AttendedTree = { processes: new Map(), wanting: new Set(), expecting: new Set() };
    this.#trees.set(tree, made);
    return made;
  }

  #forgetIdle(tree: TaskId): void {
    const place = this.#trees.get(tree);
    if (place === undefined || place.processes.size + place.wanting.size + place.expecting.size > 0) return;
    this.#trees.delete(tree);
  }
}

const ourReasons: ReadonlySet<unknown> = new Set(["unattended", "process_gone"]);

function unattended({ kind, name }: Attended): TuttiError {
  const message = `no process of the program is there that has the ${kind} ${name}; the task waits for one`;
  return new TuttiError("busy", message, { details: { reason: "unattended" } });
}

function processGone(): TuttiError {
  const message = "the process of the program that had the call is gone; the call may have been made";
  return new TuttiError("outcome_unknown", message, { details: { reason: "process_gone" } });
}

interface TalkOptions {
  readonly clock: Clock;
  readonly withinMs?: number;
  /** Sends the first order. */
  readonly begin: () => void;
  /** Everything but the end. */
  readonly hear: (notice: AttendNotice) => void;
}

/** Resolves with the result that the process tells of. */
export function talkOver(
  process: AttendedProcess,
  { key: call, signal }: Pick<StepContext, "key" | "signal">,
  { clock, withinMs, begin, hear }: TalkOptions,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      callOff?.();
      signal.removeEventListener("abort", aborted);
      if (process.talks.get(call) === talk) process.talks.delete(call);
    };
    const fail = (error: unknown): void => {
      over();
      reject(error);
    };
    const giveUp = (error: unknown): void => {
      // Tutti itself stops: the next start asks the same process for the same call.
      if (!(error instanceof TuttiError && error.code === "stopped")) process.send({ kind: "abort", call });
      fail(error);
    };
    const aborted = (): void => giveUp(signal.reason);
    const talk = {
      hear(notice: AttendNotice): void {
        if (notice.kind === "result") {
          over();
          resolve(notice.value);
        } else if (notice.kind === "failed") fail(toldError(notice.failure));
        else hear(notice);
      },
      lost: fail,
    };
    const late = (): void =>
      giveUp(new TuttiError("deadline", `the call took longer than ${withinMs} ms`, { retry: "unknown" }));
    const callOff = withinMs === undefined ? undefined : clock.timer(withinMs, late);
    process.talks.set(call, talk);
    signal.addEventListener("abort", aborted, { once: true });
    if (signal.aborted) aborted();
    else begin();
  });
}

/** What a process tells of a failure must not look like what only we can know. */
function toldError(failure: Failure): TuttiError {
  const { details, ...rest } = failure;
  const isOurs = ourReasons.has(details?.["reason"]);
  return errorOfFailure(isOurs || details === undefined ? rest : failure);
}
