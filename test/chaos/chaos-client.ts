// The outside of the chaos: starts trees, answers, messages, cancels and retries at random nodes, and remembers what was acknowledged.

import { setTimeout as pause } from "node:timers/promises";

import { z } from "zod";

import { taskName } from "../../src/store/names.ts";
import { mails, roots } from "../crash/crash-loops.ts";
import type { Chance } from "../support/seeded-random.ts";
import { ChaosReply, type ChaosRequest, type SeenEvent } from "./chaos-request.ts";
import type { NodeSlot } from "./chaos-slot.ts";

/** After these the request may or may not have been carried out, so it is sent again, to whatever node. */
const unsureCodes: readonly string[] = ["locked", "stopped", "busy", "unreachable"];
const patienceMs = 120_000;
const answerMs = 8_000;

const Started = z.object({ task: z.string(), existed: z.boolean() });
const Delivered = z.object({ outcome: z.string(), settled: z.looseObject({ kind: z.string() }).optional() });

interface Answered {
  /** Undefined when it was refused with `code`. */
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
  /** How often it was sent without an answer before. */
  readonly unsure: number;
}

export interface ClientOptions {
  readonly slots: readonly NodeSlot[];
  readonly chance: Chance;
  readonly salt: string;
}

export class ChaosClient {
  readonly #options: ClientOptions;
  /** In the form that the check of the crash test reads. */
  readonly acks: string[][] = [];
  /** Told although it may not be: that something acknowledged is unknown, or another refusal. */
  readonly lost: string[] = [];
  readonly doubled: string[] = [];
  /** How often a message may have been taken, by task and text. */
  readonly sends = new Map<string, number>();
  readonly keys = new Set<string>();
  readonly results = new Map<number, string>();
  /** Roots whose end the reader has seen. */
  readonly #ended = new Set<number>();
  readonly #awaited = new Map<number, () => void>();
  #working = 0;
  #last = 0;
  started = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Requests under way, beside those of the lanes. */
  get working(): number {
    return this.#working;
  }

  /** Starts one tree after the other until it is told to stop. */
  async lane(lane: number, over: AbortSignal): Promise<void> {
    const { chance } = this.#options;
    for (let count = 0; !over.aborted; count += 1) {
      const agent = chance.pick(roots);
      const key = `chaos ${lane}.${count}`;
      this.keys.add(key);
      // Now and then at two nodes at once: it is one tree.
      const starts = await Promise.all(
        Array.from({ length: chance.oneIn(3) ? 2 : 1 }, () => this.#call({ do: "start", agent, key })),
      );
      const names = starts.map(({ value }) => Started.safeParse(value).data?.task);
      if (new Set(names).size > 1) this.doubled.push(`${key} started ${JSON.stringify(names)}`);
      const [name] = names;
      if (name === undefined) {
        this.lost.push(`start of ${key} was refused: ${starts[0]?.message ?? JSON.stringify(starts)}`);
        continue;
      }
      const id = idIn(name);
      this.started += 1;
      this.acks.push(["start", String(id), key]);
      // The end may be seen before the start is acknowledged.
      if (!this.#ended.has(id)) await new Promise<void>((resolve) => this.#awaited.set(id, resolve));
      this.#awaited.delete(id);
    }
  }

  /** What the reader sees makes the outside do something. */
  see({ type, task, root, agent, ask }: SeenEvent): void {
    if (ask !== null) this.#work(() => this.#answer(ask));
    if (task !== root) return;
    if (type === "task.created" && agent !== null) this.#tend(task, agent);
    if (type !== "task.completed" && type !== "task.failed" && type !== "task.canceled") return;
    this.#ended.add(task);
    this.#awaited.get(task)?.();
    if (this.#options.chance.oneIn(4)) this.#work(() => this.#readResult(task));
  }

  /** A page of events from another node than the last one. */
  async page(after: number): Promise<unknown> {
    const { slots, chance } = this.#options;
    const others = slots.filter((slot, at) => slot.port !== undefined && !slot.frozen && at !== this.#last);
    const slot = chance.any(others);
    if (slot === undefined) return undefined;
    this.#last = slots.indexOf(slot);
    const reply = await send(slot, { do: "events", after }, 5_000);
    return reply !== undefined && "value" in reply ? reply.value : undefined;
  }

  #work(work: () => Promise<void>): void {
    this.#working += 1;
    void pause(this.#options.chance.next() * 30)
      .then(work)
      .catch((thrown: unknown) => this.lost.push(String(thrown)))
      .finally(() => (this.#working -= 1));
  }

  #tend(id: number, agent: string): void {
    const task = taskName(this.#options.salt, id);
    if (agent === "inbox") for (const text of mails) this.#work(() => this.#message(id, task, text));
    if (agent === "doomed") {
      this.#work(async () => {
        await pause(20);
        if (this.#taken(await this.#call({ do: "cancel", task }))) this.acks.push(["cancel", String(id)]);
      });
    }
    if (agent === "retried") {
      this.#work(async () => {
        await pause(10);
        if (this.#taken(await this.#call({ do: "retry", task }))) this.acks.push(["retry", String(id)]);
      });
    }
  }

  async #message(id: number, task: string, text: string): Promise<void> {
    const answered = await this.#call({ do: "message", task, text });
    const taken = this.#taken(answered);
    if (taken) this.acks.push(["mail", String(id), text]);
    this.sends.set(`${id} ${text}`, answered.unsure + Number(taken));
  }

  async #answer({ name, kind }: { readonly name: string; readonly kind: string }): Promise<void> {
    const own = answerTo(name, kind);
    const answered = await this.#call({ do: "deliver", wait: name, value: own });
    const { data } = Delivered.safeParse(answered.value);
    const settled = data?.settled;
    const isOwn = settled?.kind === "answered" && JSON.stringify(settled["value"]) === JSON.stringify(own);
    if (data?.outcome === "accepted" || (data?.outcome === "late" && isOwn)) {
      this.acks.push(["answer", String(idIn(name))]);
      if (data.outcome === "late" && answered.unsure === 0) this.doubled.push(`${name} was answered twice`);
    } else if (data?.outcome !== "late") {
      this.lost.push(`${name} was told ${answered.code ?? JSON.stringify(answered.value)}: ${answered.message ?? ""}`);
    }
  }

  async #readResult(task: number): Promise<void> {
    const { value, message } = await this.#call({ do: "result", task });
    if (typeof value === "string") this.results.set(task, value);
    else this.lost.push(`the result of ${task} cannot be read: ${message ?? "there is none"}`);
  }

  /** A task may be over by now, which is no loss; one that was acknowledged is never unknown. */
  #taken({ code, message }: Answered): boolean {
    if (code !== undefined && code !== "conflict") this.lost.push(`${code}: ${message ?? ""}`);
    return code === undefined;
  }

  /** Sends it to one node after the other until one of them answers. */
  async #call(request: ChaosRequest): Promise<Answered> {
    const { slots, chance } = this.#options;
    let unsure = 0;
    for (const end = Date.now() + patienceMs; Date.now() < end;) {
      // Now and then a node that is frozen, which finds the request when it wakes up.
      const slot = chance.any(slots.filter(({ port, frozen }) => port !== undefined && (!frozen || chance.oneIn(20))));
      const reply = slot === undefined ? undefined : await send(slot, request, answerMs);
      if (reply !== undefined && "value" in reply) return { value: reply.value, unsure };
      if (reply !== undefined && !unsureCodes.includes(reply.error.code)) return { ...reply.error, unsure };
      if (slot !== undefined) unsure += 1;
      await pause(30);
    }
    return { code: "late", message: `nobody took ${JSON.stringify(request)}`, unsure };
  }
}

const idIn = (name: string): number => Number.parseInt(name.slice(name.lastIndexOf("_") + 1), 36);

function answerTo(name: string, kind: string): unknown {
  if (kind === "budget") return { kind, go_on: false };
  return kind === "approval" ? { kind, approved: true } : { kind: "question", value: `answer to ${name}` };
}

/** Undefined when there was no answer. */
async function send(slot: NodeSlot, request: ChaosRequest, withinMs: number): Promise<ChaosReply | undefined> {
  try {
    const signal = AbortSignal.timeout(withinMs);
    const response = await fetch(`http://127.0.0.1:${slot.port}`, {
      method: "POST",
      body: JSON.stringify(request),
      signal,
    });
    return ChaosReply.parse(await response.json());
  } catch {
    return undefined;
  }
}
