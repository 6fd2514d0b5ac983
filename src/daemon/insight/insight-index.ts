// The index over everything that happened: it begins with the first question, follows the events at its own pace, and answers.

import { once } from "node:events";
import { extname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { TuttiError } from "../../protocol/error.ts";
import { ownSalt } from "../../store/names.ts";
import type { StoreView } from "../../store/view.ts";
import type { EventFeed } from "../state/event-feed.ts";
import { batchOf } from "./insight-batch.ts";
import type { InsightAnswer, InsightCall, InsightWorkerData } from "./insight-worker.ts";

export interface InsightDeps {
  readonly folder: string;
  readonly view: Pick<StoreView, "salt" | "lastEvent">;
  readonly feed: Pick<EventFeed, "read" | "subscribe" | "position">;
  /** Told when the index cannot go on; the next question begins anew. */
  readonly onError: (error: unknown) => void;
}

/** How far the index has read. */
export interface InsightReach {
  /** The sequence of the last event that the answer knows. */
  readonly seq: number;
  /** Events that it has not read yet. */
  readonly behind: number;
}

const page = { limit: 500, maxLength: 512 * 1024 };
/** New events are collected for this long, so that a busy time costs few reads. */
const collectMs = 200;
/** While tasks are at work, so many times as long as it worked: its writes and theirs go to the same disk. */
const restsWhileBusy = 9;
const longestRestMs = 1_000;
/** How long a question waits for the index to read what had happened before it was asked. */
const catchUpMs = 2_000;
/** A thread that takes longer for one answer counts as lost. */
const answerMs = 20_000;
/** Beyond so many open questions, further ones are refused instead of making everybody wait. */
const mostOpen = 32;
const closeMs = 500;

interface OpenCall {
  readonly resolve: (answer: InsightAnswer) => void;
  readonly reject: (error: TuttiError) => void;
}

export class InsightIndex {
  readonly #deps: InsightDeps;
  #started: Promise<Follower> | undefined;
  #closed = false;

  constructor(deps: InsightDeps) {
    this.#deps = deps;
  }

  /** The answer, after the index has read what had happened before the question, or for a limited time. */
  async ask<K extends InsightAnswer["kind"]>(
    call: InsightCall & { readonly kind: K },
  ): Promise<InsightReach & { readonly answer: Extract<InsightAnswer, { kind: K }> }> {
    if (this.#closed) throw new TuttiError("stopped", "the service is being stopped; ask again when it is back");
    const follower = await this.#follower();
    const wanted = Math.max(this.#deps.feed.position, await this.#deps.view.lastEvent());
    await follower.reached(wanted, catchUpMs);
    const answer = await follower.call(call);
    const seq = follower.position;
    const behind = Math.max(0, (await this.#deps.view.lastEvent()) - seq);
    const kind: K = call.kind;
    if (!isOf(answer, kind)) throw new TuttiError("internal", `the index answered ${answer.kind}`);
    return { answer, seq, behind };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const follower = await this.#started?.catch(() => undefined);
    await follower?.close();
  }

  /** One that could not begin is forgotten; otherwise every later question would get its error, too. */
  #follower(): Promise<Follower> {
    if (this.#started !== undefined) return this.#started;
    const started = this.#start();
    this.#started = started;
    started.catch(() => {
      if (this.#started === started) this.#started = undefined;
    });
    return started;
  }

  async #start(): Promise<Follower> {
    const follower = new Follower(this.#deps, (error) => {
      this.#started = undefined;
      if (!this.#closed) this.#deps.onError(error);
    });
    try {
      await follower.begin();
    } catch (thrown) {
      await follower.close();
      throw thrown;
    }
    return follower;
  }
}

function isOf<K extends InsightAnswer["kind"]>(
  answer: InsightAnswer,
  kind: K,
): answer is Extract<InsightAnswer, { kind: K }> {
  return answer.kind === kind;
}

/** One thread, from its start to its end. */
class Follower {
  position = 0;
  readonly #deps: InsightDeps;
  readonly #onEnd: (error: unknown) => void;
  readonly #open: OpenCall[] = [];
  readonly #ending = new AbortController();
  #worker: Worker | undefined;
  #following: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  /** Something was committed since the last page was read. */
  #isBusy = false;
  #rest = new AbortController();
  #progress = Promise.withResolvers<void>();
  #stuck: NodeJS.Timeout | undefined;

  constructor(deps: InsightDeps, onEnd: (error: unknown) => void) {
    this.#deps = deps;
    this.#onEnd = onEnd;
  }

  async begin(): Promise<void> {
    const { folder, view, feed } = this.#deps;
    const workerData: InsightWorkerData = { folder, salt: ownSalt(view.salt), last: await view.lastEvent() };
    // The build changes the extension of both files alike.
    const url = new URL(`./insight-worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(url, { workerData, env: {}, execArgv: [] });
    this.#worker.unref();
    this.#worker.on("message", (answer: InsightAnswer) => this.#answered(answer));
    this.#worker.once("error", (error) => this.#fail(error));
    this.#worker.once("exit", () => this.#fail(new Error("the thread of the index has ended")));
    const first = await this.call({ kind: "position" });
    this.position = first.kind === "position" ? first.position : 0;
    const off = feed.subscribe(() => {
      this.#isBusy = true;
      this.#wake();
    });
    this.#ending.signal.addEventListener("abort", off, { once: true });
    this.#following = this.#follow().catch((thrown: unknown) => this.#fail(thrown));
  }

  /** Resolves when the index knows the event, or after the time. */
  async reached(seq: number, withinMs: number): Promise<void> {
    const until = Date.now() + withinMs;
    if (this.position < seq) this.#hurry();
    while (this.position < seq && Date.now() < until && !this.#ending.signal.aborted) {
      const timer = new AbortController();
      await Promise.race([this.#progress.promise, delay(until - Date.now(), undefined, { signal: timer.signal })]);
      timer.abort();
    }
  }

  async call(call: InsightCall): Promise<InsightAnswer> {
    if (this.#ending.signal.aborted || this.#worker === undefined) throw unavailable();
    if (this.#open.length >= mostOpen && call.kind !== "apply") {
      throw new TuttiError("slow_down", "many searches and charts are being asked for at once; ask again in a moment");
    }
    const { promise, resolve, reject } = Promise.withResolvers<InsightAnswer>();
    this.#open.push({ resolve, reject });
    this.#worker.postMessage(call);
    if (this.#open.length === 1) this.#watch();
    const answer = await promise;
    if (answer.kind === "failed") throw new TuttiError("internal", `the index could not answer: ${answer.message}`);
    return answer;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    // From now on somebody waits for the thread, so it keeps the process alive until it has ended.
    worker?.ref();
    this.#ending.abort();
    this.#hurry();
    await this.#following;
    if (worker === undefined || worker.threadId === -1) return;
    const ended = once(worker, "exit");
    worker.postMessage("close");
    // It may be in the middle of a long answer; what it has not written is read from the events again.
    const patience = setTimeout(() => void worker.terminate(), closeMs);
    await ended;
    clearTimeout(patience);
  }

  /** Reads from its own position, as fast as the thread takes it, and rests after each page; for longer while tasks work. */
  async #follow(): Promise<void> {
    const { feed, view } = this.#deps;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const began = Date.now();
      const { events, more } = await feed.read({ ...page, after: this.position });
      const last = events.at(-1)?.event.seq;
      if (last !== undefined) {
        await this.call({
          kind: "apply",
          batch: batchOf(
            view.salt,
            last,
            events.map(({ event }) => event),
          ),
        });
        this.#moveTo(last);
      }
      if (!more) await woken;
      if (signal.aborted) return;
      const worked = Math.max(1, Date.now() - began);
      const rest = this.#isBusy ? Math.min(longestRestMs, worked * restsWhileBusy) : Math.min(collectMs, worked);
      this.#isBusy = false;
      this.#rest = new AbortController();
      await delay(more ? rest : Math.max(collectMs, rest), undefined, { signal: this.#rest.signal }).catch(
        () => undefined,
      );
    }
  }

  /** Somebody waits, so nothing more is collected. */
  #hurry(): void {
    this.#wake();
    this.#rest.abort();
  }

  #moveTo(position: number): void {
    this.position = position;
    this.#progress.resolve();
    this.#progress = Promise.withResolvers();
  }

  #answered(answer: InsightAnswer): void {
    this.#open.shift()?.resolve(answer);
    this.#watch();
  }

  /** Gives the oldest open call its time. Calls that wait behind it have theirs later. */
  #watch(): void {
    clearTimeout(this.#stuck);
    if (this.#open.length === 0) return;
    this.#stuck = setTimeout(() => this.#fail(new Error("the index took too long for an answer")), answerMs);
  }

  #fail(error: unknown): void {
    const isFirst = !this.#ending.signal.aborted;
    this.#ending.abort();
    this.#hurry();
    for (const { reject } of this.#open.splice(0)) reject(unavailable(error));
    clearTimeout(this.#stuck);
    if (isFirst) {
      void this.#worker?.terminate();
      this.#onEnd(error);
    }
  }
}

function unavailable(cause?: unknown): TuttiError {
  const message = "the index for searches and charts is not available at the moment; ask again";
  return new TuttiError("busy", message, cause === undefined ? {} : { cause });
}
