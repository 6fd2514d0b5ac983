// What everybody in one run of the cuts shares: the daemon, the ledger, random choices, and requests repeated until answered.

import { setTimeout as sleep } from "node:timers/promises";

import type { TaskEvent } from "../../../src/protocol/task/event.ts";
import { randomFrom } from "../../support/seeded-random.ts";
import type { DaemonProcess } from "../daemon-process.ts";
import { NoAnswer, type Reply, send, type Sending } from "../send-json.ts";
import { count, fault, type Ledger, newLedger } from "./cuts-ledger.ts";

export class CutsRun {
  readonly daemon: DaemonProcess;
  readonly ledger: Ledger = newLedger();
  readonly key: string;
  /** Terminal event of each task that is known to have ended. */
  readonly ends = new Map<string, TaskEvent>();
  /** What `GET /v1/status` must say; undefined while a call that changes it is under way. */
  paused: boolean | undefined = false;
  readonly #random: () => number;
  readonly #over = new AbortController();
  readonly #aside = new Set<Promise<void>>();
  #cutsOwed = 0;
  #names = 0;

  constructor(daemon: DaemonProcess, seed: number) {
    this.daemon = daemon;
    this.key = daemon.key;
    this.#random = randomFrom(seed);
  }

  /** No new work is begun; what there is goes on to its end. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  finish(): void {
    this.#over.abort();
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  between(low: number, high: number): number {
    return low + this.#random() * (high - low);
  }

  oneOf<T>(values: readonly [T, ...T[]]): T {
    return values[Math.floor(this.#random() * values.length)] ?? values[0];
  }

  /** Different from every other. */
  name(prefix: string): string {
    this.#names += 1;
    return `${prefix}-${this.#names}`;
  }

  /** Goes on beside the rest, and is waited for before the end. */
  aside(work: Promise<void>): void {
    const done = work.finally(() => this.#aside.delete(done));
    this.#aside.add(done);
  }

  async quiet(): Promise<void> {
    while (this.#aside.size > 0) await Promise.all(this.#aside);
  }

  /** The connections of the next requests that may be cut are cut in their middle. */
  cutNextRequests(number: number): void {
    this.#cutsOwed += number;
  }

  /** Tries until there is an answer. A server error that is not the daemon going down is a fault. */
  async ask(sending: Sending & { readonly cuttable?: boolean }): Promise<Reply> {
    for (let tries = 0; tries < 2_000; tries += 1) {
      const reply = await this.askOnce(sending);
      if (reply !== undefined) return reply;
      await sleep(this.between(5, 40));
    }
    throw new Error(`no answer to ${sending.method ?? "GET"} ${sending.path} after 2000 tries`);
  }

  /** Undefined when there was no answer, or only that it is going down. */
  async askOnce({
    cuttable = false,
    ...sending
  }: Sending & { readonly cuttable?: boolean }): Promise<Reply | undefined> {
    const cut = cuttable && this.#cutsOwed > 0;
    if (cut) {
      this.#cutsOwed -= 1;
      count(this.ledger, "requests cut");
    }
    try {
      const cutAfterMs = cut ? this.between(0, 6) : undefined;
      const reply = await send(this.daemon.url, { bearer: this.key, ...sending, cutAfterMs });
      if (reply.status === 503 || reply.status === 429) {
        count(this.ledger, `answered ${reply.status}`);
        return undefined;
      }
      if (reply.status >= 500) {
        fault(this.ledger, "lost", `${sending.method ?? "GET"} ${sending.path}: ${reply.status} ${reply.text}`);
      }
      return reply;
    } catch (thrown) {
      if (thrown instanceof NoAnswer) return undefined;
      throw thrown;
    }
  }
}
