import assert from "node:assert/strict";
import { test } from "node:test";

import { failsWith } from "../../../test/support/try-tool.ts";
import { settle } from "../../../test/support/settle.ts";
import { fakeClock, type FakeClock } from "../../engine/fake-clock.ts";
import type { AttendedCall } from "../../ports.ts";
import type { AttendReply } from "../../protocol/api/attend-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { Attendance } from "./attendance.ts";

const tree = "tsk_tree_1";
const has = { tools: ["charge"], models: [], workflows: [] };
const call: AttendedCall = {
  tree,
  wanted: { kind: "tool", name: "charge" },
  order: (id) => ({ kind: "tool", call: id, name: "charge", input: {} }),
  withinMs: 3_600_000,
};

interface Opened {
  readonly attendance: Attendance;
  readonly clock: FakeClock;
  readonly settled: string[];
  /** One request of a process. */
  readonly poll: (process: string, options?: PollOptions) => Poll;
}
interface PollOptions {
  readonly waitMs?: number;
  readonly after?: number;
  readonly signal?: AbortSignal;
  readonly has?: typeof has;
}
type Poll = Promise<Omit<AttendReply, "over">>;

function open(): Opened {
  const clock = fakeClock();
  const settled: string[] = [];
  const settle = async (wait: string, process: string): Promise<void> => void settled.push(`${wait} by ${process}`);
  const attendance = new Attendance({ clock, settle });
  let life: string | undefined;
  return {
    attendance,
    clock,
    settled,
    async poll(process, { waitMs = 0, after = 0, signal = new AbortController().signal, has: own = has } = {}) {
      const request = { process, has: own, after, wait_ms: waitMs, ...(life === undefined ? {} : { life }) };
      const reply = await attendance.attend(tree, request, signal);
      ({ life } = reply);
      return reply;
    },
  };
}

/** A step that remembers what it noted, as the engine does. */
function step(noted?: unknown) {
  const notes: unknown[] = [];
  const note = async (value: unknown): Promise<void> => void notes.push(value);
  const aborted = new AbortController();
  return { key: "step", noted, note, notes, signal: aborted.signal, abort: (reason: unknown) => aborted.abort(reason) };
}

const unattended = failsWith("busy", /no process of the program is there that has the tool charge/);
const gone = failsWith("outcome_unknown", /is gone/);

test("a call without a process fails before anything is noted, and a wait ends when one comes that has the tool", async () => {
  const { attendance, poll, settled } = open();
  const own = step();
  await assert.rejects(attendance.call(call, own), unattended);
  assert.deepEqual(own.notes, []);
  attendance.settleWhenThere(tree, call.wanted, "ask_1");
  await poll("other", { has: { ...has, tools: ["refund"] } });
  assert.deepEqual(settled, []);
  await poll("able");
  assert.deepEqual(settled, ["ask_1 by able"]);
});

test("a call is noted and given to one process, and what another one says of it is late", async () => {
  const { attendance, poll } = open();
  await poll("a");
  const own = step();
  const made = attendance.call(call, own);
  await settle();
  assert.deepEqual(own.notes, [{ attendant: "a" }]);
  assert.deepEqual((await poll("b")).orders, []);
  const forged = { kind: "result", call: "step", value: "forged" } as const;
  assert.deepEqual(attendance.report(tree, { process: "b", notices: [forged], leaves: true }).late, ["step"]);
  const { orders } = await poll("a");
  assert.deepEqual(orders, [{ number: 1, order: { kind: "tool", call: "step", name: "charge", input: {} } }]);
  assert.deepEqual((await poll("a")).orders, orders, "an order that was not acknowledged comes again");
  assert.deepEqual((await poll("a", { after: 1 })).orders, []);
  const told = { kind: "result", call: "step", value: "done" } as const;
  assert.deepEqual(attendance.report(tree, { process: "a", notices: [told], leaves: false }).late, []);
  assert.equal(await made, "done");
  assert.deepEqual(attendance.report(tree, { process: "a", notices: [told], leaves: false }).late, ["step"]);
});

test("a process that is heard in time keeps its call, and one that is silent for longer has lost it (1)", async () => {
  const { attendance, poll, clock } = open();
  await poll("a");
  const made = attendance.call(call, step());
  await settle();
  for (let times = 0; times < 5; times += 1) {
    clock.advance(29_000);
    if (times % 2 === 0) await poll("a");
    else attendance.report(tree, { process: "a", notices: [], leaves: false });
  }
  const waiting = poll("a", { waitMs: 20_000, after: 1 });
  clock.advance(20_000);
  await waiting;
  clock.advance(29_999);
  await settle();
  clock.advance(1);
  await assert.rejects(made, gone);
  await assert.rejects(attendance.call(call, step()), unattended);
});

test("a process whose connection was cut is gone soon, and one that says that it leaves is gone at once", async () => {
  const { attendance, poll, clock } = open();
  const cut = new AbortController();
  const waiting = poll("a", { waitMs: 20_000, signal: cut.signal });
  const first = attendance.call(call, step());
  await settle();
  await waiting;
  const again = poll("a", { waitMs: 20_000, after: 1, signal: cut.signal });
  cut.abort();
  await again;
  clock.advance(3_000);
  await assert.rejects(first, gone);
  await poll("b");
  const second = attendance.call(call, step());
  await settle();
  attendance.report(tree, { process: "b", notices: [], leaves: true });
  await assert.rejects(second, gone);
});

test("after a restart the process that was noted is asked again, and given up when it does not come back (1)", async () => {
  const noted = { attendant: "a" };
  const before = open();
  await before.poll("a");
  const after = open();
  const own = step(noted);
  const made = after.attendance.call(call, own);
  await after.poll("b");
  assert.deepEqual((await after.poll("b")).orders, [], "no other process gets it");
  await after.poll("a");
  await settle();
  assert.equal((await after.poll("a")).orders.length, 1);
  const told = { kind: "result", call: "step", value: "once" } as const;
  after.attendance.report(tree, { process: "a", notices: [told], leaves: false });
  assert.equal(await made, "once");
  assert.deepEqual(own.notes, []);

  const lost = open();
  const never = lost.attendance.call(call, step(noted));
  await lost.poll("b");
  lost.clock.advance(30_000);
  await assert.rejects(never, gone);
});

test("a call that is canceled is told to the process, and one that Tutti's own stop ends is not", async () => {
  const { attendance, poll } = open();
  await poll("a");
  const canceled = step();
  const first = attendance.call(call, canceled);
  await settle();
  canceled.abort(new Error("enough"));
  await assert.rejects(first, /enough/);
  const { orders } = await poll("a", { after: 1 });
  assert.deepEqual(
    orders.map(({ order }) => order.kind),
    ["abort"],
  );
  const stopped = step();
  const second = attendance.call(call, stopped);
  await settle();
  stopped.abort(new TuttiError("stopped", "Tutti is being stopped"));
  await assert.rejects(second, failsWith("stopped"));
  const left = (await poll("a", { after: 2 })).orders;
  assert.deepEqual(
    left.map(({ order }) => order.kind),
    ["tool"],
  );
});

test("a process cannot claim what only the daemon knows", async () => {
  const { attendance, poll } = open();
  await poll("a");
  const made = attendance.call(call, step());
  await settle();
  const failure = { code: "busy", message: "no", retry: "safe", details: { reason: "unattended" } } as const;
  attendance.report(tree, { process: "a", notices: [{ kind: "failed", call: "step", failure }], leaves: false });
  await assert.rejects(made, (thrown) => thrown instanceof TuttiError && thrown.details?.["reason"] === undefined);
});

test("a process that reports and never takes its orders is given up before they fill the memory", async () => {
  const { attendance, poll } = open();
  await poll("one");
  const process = attendance.processFor(tree, call.wanted);
  for (let count = 0; count < 30_000 && process?.isGone === false; count += 1) {
    attendance.report(tree, { process: "one", notices: [], leaves: false });
    process.send({ kind: "abort", call: `call ${count}` });
  }
  assert.equal(process?.isGone, true);
  assert.equal(attendance.processFor(tree, call.wanted), undefined);
});
