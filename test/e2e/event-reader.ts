// A strict reader of the event stream: it keeps every event as it came, and reconnects with the last id it saw.

import { type ClientRequest, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { StreamEnd } from "../../src/protocol/api/task-shapes.ts";
import { TaskEvent } from "../../src/protocol/task/event.ts";

export interface ReaderOptions {
  readonly url: () => string;
  readonly key: string;
  /** Only this subtree; the reading ends when it is over. */
  readonly task?: string;
  readonly after?: number;
  readonly onEvent?: (event: TaskEvent) => void;
}

const retryMs = 25;

export class EventReader {
  readonly heard: TaskEvent[] = [];
  /** What came twice, out of order, or in no shape. */
  readonly problems: string[] = [];
  readonly #options: ReaderOptions;
  readonly #done: Promise<void>;
  readonly #wanted = new Set<{ seq: number; resolve: () => void }>();
  #last: number;
  #asked: ClientRequest | undefined;
  #closed = false;
  #connections = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#last = options.after ?? 0;
    this.#done = this.#read();
  }

  get last(): number {
    return this.#last;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Resolves when the subtree is over; never for a reader of everything, unless it is closed. */
  get ended(): Promise<void> {
    return this.#done;
  }

  /** Cuts the connection; the reader comes back by itself. */
  drop(): void {
    this.#asked?.destroy();
  }

  reached(seq: number): Promise<void> {
    if (this.#last >= seq) return Promise.resolve();
    return new Promise((resolve) => this.#wanted.add({ seq, resolve }));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#asked?.destroy();
    await this.#done;
  }

  async #read(): Promise<void> {
    while (!this.#closed) {
      const end = await this.#connection();
      if (end?.reason === "settled") return;
      if (!this.#closed) await sleep(retryMs);
    }
  }

  /** One connection from its opening to its end; a service that is not there is one that ends at once. */
  #connection(): Promise<StreamEnd | undefined> {
    const { url, key, task } = this.#options;
    const path = task === undefined ? "/v1/events" : `/v1/tasks/${task}/events`;
    const headers = {
      authorization: `Bearer ${key}`,
      accept: "text/event-stream",
      ...(this.#last > 0 ? { "last-event-id": String(this.#last) } : {}),
    };
    return new Promise((resolve) => {
      let end: StreamEnd | undefined;
      const done = (): void => resolve(end);
      const asked = request(new URL(path, url()), { headers, agent: false }, (answer) => {
        if (answer.statusCode !== 200) {
          answer.resume();
          if (answer.statusCode !== 503) this.problems.push(`the stream was answered with ${answer.statusCode}`);
          return done();
        }
        this.#connections += 1;
        let rest = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => {
          const blocks = `${rest}${chunk}`.split("\n\n");
          rest = blocks.pop() ?? "";
          for (const block of blocks) end = this.#hear(block) ?? end;
        });
        answer.on("error", done);
        answer.on("close", done);
      });
      this.#asked = asked;
      asked.on("error", done);
      asked.on("close", done);
      asked.end();
    });
  }

  #hear(block: string): StreamEnd | undefined {
    const field = (name: string): string | undefined =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .replace(/^ /, "");
    const data = field("data");
    if (data === undefined) return undefined;
    const name = field("event") ?? "message";
    if (name === "end") return StreamEnd.parse(JSON.parse(data));
    if (name !== "message") return undefined;
    const read = TaskEvent.safeParse(JSON.parse(data));
    if (!read.success) {
      this.problems.push(`an event came in no known shape: ${data.slice(0, 300)}`);
      return undefined;
    }
    const { seq } = read.data;
    if (field("id") !== String(seq)) this.problems.push(`event ${seq} came under the id ${field("id")}`);
    if (seq <= this.#last) this.problems.push(`event ${seq} came after ${this.#last}`);
    this.#last = Math.max(seq, this.#last);
    this.heard.push(read.data);
    this.#options.onEvent?.(read.data);
    for (const each of this.#wanted) {
      if (this.#last < each.seq) continue;
      this.#wanted.delete(each);
      each.resolve();
    }
    return undefined;
  }
}

/** What the reader missed, saw twice or saw in another order, against the events that there are. */
export function readerProblems(reader: EventReader, log: readonly TaskEvent[]): string[] {
  const told = reader.heard.map((event) => JSON.stringify(event));
  const kept = log.map((event) => JSON.stringify(event));
  const differs = kept.findIndex((event, index) => told[index] !== event);
  if (differs >= 0) {
    return [...reader.problems, `event ${differs} of the log is ${kept[differs]}, the reader has ${told[differs]}`];
  }
  if (told.length === kept.length) return reader.problems;
  return [...reader.problems, `the reader has ${told.length} events, the log ${kept.length}`];
}
