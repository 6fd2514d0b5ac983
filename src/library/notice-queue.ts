// Notices on their way to the daemon: in order, several at once, again while the daemon is away.

import { withRetry } from "../client/retry.ts";
import type { AttendNotice, AttendReported } from "../protocol/api/attend-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { toFailure } from "../protocol/failure.ts";

interface QueueOptions {
  readonly send: (notices: AttendNotice[], leaves: boolean) => Promise<AttendReported>;
  /** Nobody waits for the call in this life of the daemon. */
  readonly onLate: (call: string, life: string) => void;
}

const mostAtOnce = 200;
/** About how many characters one request may have; a single notice may have more. */
const longestBatch = 1_000_000;
const giveUpAfterMs = 10 * 60_000;

export class NoticeQueue {
  readonly #options: QueueOptions;
  readonly #waiting: AttendNotice[] = [];
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  add(notice: AttendNotice): void {
    if (this.#closing.signal.aborted) return;
    const last = this.#waiting.at(-1);
    if (last?.kind === "live" && notice.kind === "live" && isMoreOf(last, notice)) {
      this.#waiting.splice(-1, 1, { ...notice, text: `${last.text}${notice.text}` });
    } else this.#waiting.push(notice);
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    // What is said in the same turn of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    const { signal } = this.#closing;
    try {
      while (this.#waiting.length > 0 && !signal.aborted) {
        const batch = this.#take();
        const { late, life } = await withRetry(() => this.#sendSmall(batch), { giveUpAfterMs, signal });
        for (const call of late) this.#options.onLate(call, life);
      }
    } catch {
      // The daemon is gone for good or takes nothing more from here, which whoever waits for the run is told.
      this.#waiting.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }

  #take(): AttendNotice[] {
    let [count, length] = [0, 0];
    for (const notice of this.#waiting.slice(0, mostAtOnce)) {
      length += JSON.stringify(notice).length;
      if (count > 0 && length > longestBatch) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** An outcome that is larger than the daemon takes is told as a failure. */
  async #sendSmall(notices: AttendNotice[]): Promise<AttendReported> {
    try {
      return await this.#options.send(notices, false);
    } catch (thrown) {
      const [only] = notices;
      if (!(thrown instanceof TuttiError) || thrown.code !== "too_large" || only === undefined) throw thrown;
      if (notices.length > 1) {
        for (const each of notices) await this.#sendSmall([each]);
        return { late: [], life: "" };
      }
      const failure = toFailure(new TuttiError("too_large", "the outcome is too large to be sent; return less"));
      if (only.kind === "body_done")
        return this.#options.send([{ kind: "body_failed", call: only.call, op: only.op, failure }], false);
      if (only.kind === "live") return { late: [], life: "" };
      return this.#options.send([{ kind: "failed", call: only.call, failure }], false);
    }
  }

  /** Says what can be said at once, and that this process leaves. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#sending;
    try {
      await this.#options.send(this.#waiting.splice(0, mostAtOnce), true);
    } catch {
      // The daemon notices by itself that nobody is here.
    }
  }
}

type Live = Extract<AttendNotice, { readonly kind: "live" }>;

function isMoreOf(last: Live, { call, channel, op }: Live): boolean {
  return last.call === call && last.channel === channel && last.op === op && last.text.length < longestBatch;
}
