import assert from "node:assert/strict";
import { test } from "node:test";

import {
  again,
  answer,
  anything,
  ask,
  events,
  killed,
  type Loops,
  openWaits,
  person,
  seen,
  started,
  task,
  world,
  type World,
} from "../../test/support/engine-kit.ts";
import { gate } from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { idInName } from "../store/names.ts";
import { openView } from "../store/sqlite/sqlite-view.ts";

/** The status of every task as lists show it, and as its own events say. Tasks are counted from the first one on. */
async function statuses(w: World): Promise<{ readonly listed: string[]; readonly told: string[] }> {
  const view = openView(w.folder);
  try {
    const { rows } = await view.tasks({ limit: 99, roots: false });
    const first = Math.min(...rows.map(({ id }) => id));
    const line = (id: number, status: string): string => `${id - first + 1} ${status}`;
    const listed = rows.map(({ id, status }) => line(id, status));
    const last = new Map<number, string>();
    for (const { task: id, type } of events(w.store)) {
      if (type === "task.created") last.set(id, "pending");
      if (type === "task.started" || type === "task.resumed" || type === "run.started") last.set(id, "running");
      if (type === "task.input_required") last.set(id, "input_required");
      if (/^task\.(?:completed|failed|canceled)$/.test(type)) last.set(id, type.slice("task.".length));
    }
    return { listed: listed.toSorted(), told: [...last].map(([id, status]) => line(id, status)).toSorted() };
  } finally {
    view.close();
  }
}

async function agree(w: World, wanted: readonly string[]): Promise<void> {
  const { listed, told } = await statuses(w);
  assert.deepEqual([listed, told], [wanted, wanted]);
}

test("an ask that a select waits on is told by events, lists, counts and snapshots alike", async (t) => {
  let snapshot: unknown;
  const look = gate();
  const loops: Loops = {
    parent: async (d) => {
      const [kid = ""] = await d.spawn("kid", [task("asker")]);
      await d.step("wait", again, async () => (await look.opened, ""));
      const [found] = await d.snapshot("look", [kid]);
      snapshot = found?.status;
      return d.join([kid]);
    },
    asker: async (d) => {
      const open = await d.open("q", { ask, schema: anything });
      return d.select("first", [{ wait: open }, { after: 60_000 }]);
    },
  };
  const w = world(tempFolder(t), loops);
  t.after(() => w.stop());
  const name = await started(w, "parent");
  await settle();
  await agree(w, ["1 running", "2 input_required"]);
  assert.deepEqual(w.engine.counts(), { pending: 0, running: 1, input_required: 1 });
  look.open();
  await settle();
  assert.equal(snapshot, "input_required");
  await w.engine.deliver(openWaits(w)[0] ?? "", answer("this"), person);
  await w.engine.result(name);
  await agree(w, ["1 completed", "2 completed"]);
});

test("a task needs input until the last of its asks is settled, over a restart too", async (t) => {
  const loops: Loops = {
    asker: async (d) => {
      const [a, b] = [await d.open("a", { ask, schema: anything }), await d.open("b", { ask, schema: anything })];
      await d.select("one", [{ wait: a }]);
      await d.select("other", [{ wait: b }]);
      return "done";
    },
  };
  let w = world(tempFolder(t), loops);
  const name = await started(w, "asker");
  await settle();
  const [first = "", second = ""] = openWaits(w);
  await w.engine.deliver(first, answer("x"), person);
  await settle();
  await agree(w, ["1 input_required"]);
  w = await killed(w, t, loops);
  await settle();
  await agree(w, ["1 input_required"]);
  await w.engine.deliver(second, answer("y"), person);
  await w.engine.result(name);
  await agree(w, ["1 completed"]);
});

test("a loop that ends over an open question withdraws it and completes from running (invariant 2)", async (t) => {
  const w = world(tempFolder(t), {
    careless: async (d) => {
      await d.open("q", { ask, schema: anything });
      return "never mind";
    },
  });
  t.after(() => w.stop());
  await w.engine.result(await started(w, "careless"));
  assert.deepEqual(
    events(w.store)
      .map((event) => event.type)
      .slice(2),
    ["ask.raised", "task.input_required", "ask.withdrawn", "task.resumed", "task.completed"],
  );
  await agree(w, ["1 completed"]);
});

test("a cancel over an open question is told as one, without a moment of running", async (t) => {
  const w = world(tempFolder(t), { asker: (d) => d.wait("q", { ask, schema: anything }) });
  t.after(() => w.stop());
  const name = await started(w, "asker");
  await settle();
  await w.engine.cancel(name, "enough");
  const types = events(w.store).map((event) => event.type);
  assert.ok(!types.includes("task.resumed"), types.join(" "));
  await agree(w, ["1 canceled"]);
});

test("a task that is retried before its first run starts is running when it does", async (t) => {
  const hold = gate();
  const loops: Loops = {
    busy: (d) => d.step("hold", again, async () => (await hold.opened, "")),
    queued: (d) => d.step("wait", again, async () => (await hold.opened, "")),
  };
  const w = world(tempFolder(t), loops, { slots: 1 });
  t.after(() => w.stop());
  const first = idInName(w.store.salt, await started(w, "busy")) ?? 0;
  const name = await started(w, "queued");
  await settle();
  await w.engine.retry(name);
  const queued = (idInName(w.store.salt, name) ?? 0) - first + 1;
  await agree(w, ["1 running", `${queued} pending`]);
  hold.open();
  await w.engine.idle();
  await agree(w, ["1 completed", `${queued} completed`]);
  assert.equal(seen(w.folder, "SELECT COUNT(*) AS n FROM open")[0]?.["n"], 0);
});
