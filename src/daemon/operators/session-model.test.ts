// A model of an operator session beside the real one: whatever happens, no request is lost and none is answered twice.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";

import type { Durable } from "../../ports.ts";
import { Answer } from "../../protocol/task/ask.ts";
import type { AgentResult } from "../../protocol/invocation/invocation-result.ts";
import type { RequestKind } from "../../protocol/operator/request-id.ts";
import {
  allEvents,
  connected,
  joined,
  type Kit,
  killed,
  type KitOptions,
  loopTask,
  openKit,
  operatorTask,
  passed,
  type Peer,
  restarted,
} from "../../../test/support/operator-kit.ts";
import { type Cleanup } from "../../../test/support/temp-folder.ts";
import { until, within } from "../../../test/support/wait-until.ts";

interface Expected {
  readonly kind: RequestKind;
  readonly task: string;
  /** What is known of it: still open, or how it must have ended. */
  state: "open" | "answered" | "refused" | "canceled";
  /** The value it was answered with. */
  value: number;
  /** Its id in the current operator session. */
  req_id: string | undefined;
  /** It was sent to the current operator session. */
  sent: boolean;
}

type Action =
  | { readonly type: "request"; readonly kind: RequestKind }
  | { readonly type: "connect"; readonly v1: boolean }
  | { readonly type: "reply" | "duplicate" | "wrong_kind" | "cancel"; readonly which: number }
  | { readonly type: "drop" | "garbage" | "teardown" | "restart" | "kill" };

const which = fc.nat({ max: 50 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("request" as const),
      kind: fc.constantFrom<RequestKind>("ask", "hook_before", "spawn"),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant("connect" as const), v1: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("reply" as const), which }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constantFrom("duplicate" as const, "wrong_kind" as const, "cancel" as const),
      which,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constantFrom(
        "drop" as const,
        "garbage" as const,
        "teardown" as const,
        "restart" as const,
        "kill" as const,
      ),
    }),
  },
);

async function asker(durable: Durable): Promise<unknown> {
  const waited = await durable.wait("ask", { ask: { kind: "question", question: "which?" }, schema: Answer });
  return "value" in waited && waited.value.kind === "question" ? waited.value.value : "nothing";
}

const options: KitOptions = { loops: { asker, gated: async () => "ran" } };

class World {
  readonly #after: Cleanup;
  kit: Kit;
  sid = "";
  peer: Peer | undefined;
  v1 = false;
  readonly requests: Expected[] = [];
  #values = 0;

  constructor(kit: Kit, after: Cleanup) {
    this.kit = kit;
    this.#after = after;
  }

  async do(step: Action): Promise<void> {
    switch (step.type) {
      case "request":
        return this.#request(step.kind);
      case "connect":
        return this.#connect(step.v1);
      case "reply":
        return this.#reply(step.which);
      case "duplicate":
        return this.#duplicate(step.which);
      case "wrong_kind":
        return this.#wrongKind(step.which);
      case "cancel":
        return this.#cancel(step.which);
      case "garbage":
        return this.#garbage();
      case "teardown":
        return this.#teardown();
      case "drop":
        await this.peer?.drop();
        this.peer = undefined;
        await until(() => this.kit.hub.info(this.sid)?.connected === false);
        return;
      case "restart":
      case "kill":
        this.kit = await (step.type === "kill" ? killed : restarted)(this.#after, this.kit, options);
        this.peer = undefined;
    }
  }

  async #request(kind: RequestKind): Promise<void> {
    const asks = {
      ask: loopTask("asker", { operators: { senior: "op" } }),
      hook_before: loopTask("gated", { operators: { gate: "op" } }),
    };
    const made = kind === "spawn" ? operatorTask({ operator: "op" }) : asks[kind];
    const { task } = await this.kit.engine.start(made);
    const request: Expected = { kind, task, state: "open", value: 0, req_id: undefined, sent: false };
    this.requests.push(request);
    await until(() => (this.kit.hub.info(this.sid)?.pending ?? 0) === this.#open().length);
    if (this.peer !== undefined) await this.#expectFrames(this.peer, [request]);
  }

  /** Everything that is open comes, in order, and nothing else. */
  async #connect(v1: boolean): Promise<void> {
    const before = this.peer;
    this.v1 = v1;
    this.peer = await connected(this.kit, this.sid, v1 ? ["tutti.v1"] : []);
    if (before !== undefined)
      assert.equal((await within(() => before.closed, "the end of the older connection")).code, 4001);
    assert.equal(this.kit.hub.info(this.sid)?.connected, true);
    await this.#expectFrames(this.peer, this.#open());
  }

  async #expectFrames(peer: Peer, expected: readonly Expected[]): Promise<void> {
    for (const request of expected) {
      const frame = await peer.next(request.kind);
      assert.equal(frame.task_id, request.task, "in the order they were opened");
      assert.equal(frame.redelivered, request.sent ? true : undefined);
      assert.notEqual(frame.deadline, undefined);
      if (request.sent) assert.equal(frame.req_id, request.req_id, "the same request keeps its id");
      request.req_id = frame.req_id;
      request.sent = true;
    }
  }

  #ended(task: string): Promise<AgentResult> {
    return within(() => this.kit.engine.result(task), `the end of ${task}`);
  }

  #open(): Expected[] {
    return this.requests.filter(({ state }) => state === "open");
  }

  #pick(which: number, fits: (request: Expected) => boolean): Expected | undefined {
    const found = this.requests.filter(fits);
    return found[which % Math.max(1, found.length)];
  }

  #replyTo({ kind, req_id }: Expected, value: number): unknown {
    if (kind === "ask") return { type: "answer", req_id, value: String(value) };
    return kind === "spawn" ? { type: "spawn_ack", req_id, value } : { type: "hook_ack", req_id, ok: true };
  }

  async #reply(which: number): Promise<void> {
    const request = this.#pick(which, ({ state, sent }) => state === "open" && sent);
    if (request === undefined || this.peer === undefined) return;
    this.#values += 1;
    request.state = "answered";
    request.value = this.#values;
    this.peer.send(this.#replyTo(request, request.value));
    await this.#ended(request.task);
    await until(() => (this.kit.hub.info(this.sid)?.pending ?? 0) === this.#open().length);
    if (request.kind === "hook_before") assert.equal((await this.peer.next("hook_after")).task_id, request.task);
  }

  /** A second answer, or one that comes when nobody waits any more, changes nothing and is told so. */
  async #duplicate(which: number): Promise<void> {
    const request = this.#pick(which, ({ state, sent }) => state !== "open" && sent);
    if (request === undefined || this.peer === undefined) return;
    const code = request.state === "canceled" ? "late" : "already_answered";
    await this.#refused(this.#replyTo(request, -1), code);
  }

  async #wrongKind(which: number): Promise<void> {
    const request = this.#pick(which, ({ state, sent }) => state === "open" && sent);
    if (request === undefined || this.peer === undefined) return;
    const { req_id } = request;
    const wrong =
      request.kind === "spawn" ? { type: "hook_ack", req_id, ok: false } : { type: "spawn_ack", req_id, value: -1 };
    await this.#refused(wrong, "wrong_kind");
  }

  async #garbage(): Promise<void> {
    if (this.peer !== undefined)
      await this.#refused({ type: "answer", req_id: `${this.sid}-ask-nonsense`, value: 1 }, "unknown_request");
  }

  async #refused(frame: unknown, code: string): Promise<void> {
    const { peer } = this;
    if (peer === undefined) return;
    const before = peer.frames.length;
    peer.send(frame);
    if (this.v1) {
      assert.equal((await peer.next("error")).code, code);
    } else {
      await peer.settled();
      await passed(this.kit, 0);
      await peer.settled();
      assert.equal(peer.frames.length, before, "error frames go to clients that know them");
    }
  }

  async #cancel(which: number): Promise<void> {
    const request = this.#pick(which, ({ state }) => state === "open");
    if (request === undefined) return;
    await this.kit.engine.cancel(request.task, "no need");
    request.state = "canceled";
    await until(() => (this.kit.hub.info(this.sid)?.pending ?? 0) === this.#open().length);
  }

  /** Gates fail closed; asks stay with the people and spawns with whoever takes the name next. */
  async #teardown(): Promise<void> {
    const { peer } = this;
    await this.kit.hub.leave(this.sid, "torn down");
    if (peer !== undefined) assert.equal((await within(() => peer.closed, "the end of the connection")).code, 1000);
    this.peer = undefined;
    for (const request of this.requests) {
      if (request.state === "open" && request.kind === "hook_before") {
        request.state = "refused";
        await this.#ended(request.task);
      }
      request.sent = false;
    }
    ({ sid: this.sid } = await joined(this.kit, "op"));
    await until(() => (this.kit.hub.info(this.sid)?.pending ?? 0) === this.#open().length);
  }

  /** Answered once with the one value, refused, canceled, or still there to be answered. */
  async judge(): Promise<void> {
    await this.#connect(true);
    for (const request of this.#open()) {
      request.state = "answered";
      request.value = this.#values += 1;
      this.peer?.send(this.#replyTo(request, request.value));
    }
    for (const { kind, task, state, value } of this.requests) {
      const { status, content } = await this.#ended(task);
      assert.equal(status, { open: "", answered: "completed", refused: "failed", canceled: "canceled" }[state], task);
      if (state === "answered")
        assert.equal(content, kind === "hook_before" ? "ran" : kind === "ask" ? String(value) : value);
    }
    const events = await allEvents(this.kit);
    for (const { task, kind } of this.requests) {
      const settled = events.filter((event) => event.task === task && isSettled(event.type, kind));
      assert.equal(settled.length, kind === "spawn" ? 2 : 1, `${kind} of ${task} was settled once`);
    }
    assert.deepEqual(this.kit.warnings, []);
  }
}

/** A spawn has two waits, its own and that of the result. */
function isSettled(type: string, kind: RequestKind): boolean {
  return kind === "ask" ? /^ask\.(answered|expired|withdrawn)$/.test(type) : type === "wait.settled";
}

test("no schedule of connects, drops, replies, teardowns, restarts and kills loses or doubles a request", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 8, maxLength: 40 }), async (schedule) => {
      const ends: (() => unknown)[] = [];
      const after: Cleanup = { after: (fn) => void ends.unshift(fn) };
      const folder = mkdtempSync(join(tmpdir(), "tutti-model-"));
      ends.push(() => rmSync(folder, { recursive: true, force: true }));
      try {
        const world = new World(await openKit(after, folder, options), after);
        ({ sid: world.sid } = await joined(world.kit, "op"));
        for (const step of schedule) await world.do(step);
        await world.judge();
      } finally {
        for (const end of ends) await end();
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 60_000 },
  );
});
