import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  allEvents,
  connected,
  joined,
  type Kit,
  type KitOptions,
  openKit,
  operatorTask,
  passed,
} from "../../../test/support/operator-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import type { NewTask } from "../../ports.ts";
import { idInName } from "../../store/names.ts";

const minute = 60_000;

async function spawned(t: TestContext, task: NewTask, options: KitOptions = {}) {
  const kit = await openKit(t, tempFolder(t), options);
  const { sid } = await joined(kit, "builder");
  const peer = await connected(kit, sid);
  const { task: id } = await kit.engine.start(task);
  const spawn = await peer.next("spawn");
  return { kit, sid, peer, task: id, spawn, handle: spawn.worker_handle ?? "" };
}

const progress = (kit: Kit, bearer: string) =>
  kit.workers.events(bearer, { events: [{ type: "progress", text: "on it" }] });

const contentOf = async (kit: Kit, task: string) => (await kit.engine.result(task)).content;

test("a worker that only ever uses its handle, and renews it as it was told, may work for hours", async (t) => {
  const { kit, task, handle } = await spawned(t, operatorTask({ operator: "builder", ack_ms: 0 }));
  const fetched = await kit.workers.prompt(handle, { task_id: task });
  assert.ok(fetched.ok);
  assert.equal(fetched.value.lease.renew, "POST /v1/worker/events");
  for (let worked = 0; worked < 180 * minute; worked += fetched.value.lease.lease_ms) {
    assert.ok((await progress(kit, handle)).ok, `after ${worked / minute} minutes`);
    await passed(kit, fetched.value.lease.lease_ms - 1);
  }
  assert.ok((await kit.workers.submit(handle, "done", {})).ok);
  assert.equal(await contentOf(kit, task), "done");
});

test("a worker that only waits for an answer keeps its handle by asking, and then works in silence as long as before", async (t) => {
  const { kit, task, handle } = await spawned(t, operatorTask({ operator: "builder", ack_ms: 0, repeatable: true }));
  await kit.workers.prompt(handle, { task_id: task });
  const ask = () => kit.workers.ask(handle, { key: "k", question: "which?", wait_ms: 0 }, new AbortController().signal);
  for (let n = 0; n < 4; n += 1) {
    const asked = await ask();
    assert.ok(asked.ok && asked.value.expires_at === kit.clock.now() + 30 * minute);
    await passed(kit, 29 * minute);
  }
  assert.ok((await ask()).ok);
  kit.clock.advance(29 * minute);
  assert.ok((await ask()).ok, "the handle is renewed when the answer is there");
  assert.ok((await kit.workers.submit(handle, "done", {})).ok);
  assert.equal(await contentOf(kit, task), "done");
});

test("the config says how long the rights live, and prompt, directive and renewal say the same", async (t) => {
  const config = { operator: "builder", ack_ms: 0, repeatable: true, token_ms: 90 * minute, lease_ms: 10 * minute };
  const { kit, task, handle, spawn, peer } = await spawned(t, operatorTask(config));
  const now = (): number => kit.clock.now();
  assert.match(spawn.directive, /valid for 90 minutes[^]*at least every 10 minutes/);
  const fetched = await kit.workers.prompt(handle, { task_id: task });
  assert.ok(fetched.ok);
  const { expires_at, token_ms, lease_ms } = fetched.value.lease;
  assert.deepEqual(
    { expires_at, token_ms, lease_ms },
    { expires_at: now() + 90 * minute, token_ms: 90 * minute, lease_ms: 10 * minute },
  );
  await passed(kit, 89 * minute);
  const renewed = await progress(kit, handle);
  assert.ok(renewed.ok && renewed.value.expires_at === now() + 90 * minute);
  await passed(kit, 10 * minute - 1);
  assert.equal(peer.frames.length, 1, "the worker is not taken for silent yet");
  await passed(kit, 1);
  assert.equal((await peer.next("spawn")).attempt, 2);
});

test("a result that comes after its token expired is taken while the attempt is open (invariant 13)", async (t) => {
  const { kit, task, handle, spawn } = await spawned(t, operatorTask({ operator: "builder", ack_ms: 0 }));
  await kit.workers.prompt(handle, { task_id: task });
  await passed(kit, 200 * minute);
  for (const bearer of [handle, spawn.capability_token]) {
    const refused = await progress(kit, bearer);
    assert.equal(refused.ok ? "" : refused.reason, "expired", "only a result is taken");
  }
  assert.deepEqual(await kit.workers.submit(handle, "late", {}), {
    ok: true,
    value: { recorded: true, already: false },
  });
  assert.equal(await contentOf(kit, task), "late");
});

test("a late result is refused once the expired offer has gone out again", async (t) => {
  const { kit, task, handle, peer } = await spawned(t, operatorTask({ operator: "builder", ack_ms: 0 }));
  await passed(kit, 31 * minute);
  const second = await peer.next("spawn");
  const late = await kit.workers.submit(handle, "late", {});
  assert.equal(late.ok ? "" : late.reason, "offered_again");
  assert.ok((await kit.workers.submit(second.worker_handle, "in time", {})).ok);
  assert.equal(await contentOf(kit, task), "in time");
});

test("the handle of a task that has ended is forgotten after its expiry", async (t) => {
  const { kit, task, handle } = await spawned(t, operatorTask({ operator: "builder", ack_ms: 0 }));
  await kit.workers.submit(handle, "done", {});
  await kit.engine.result(task);
  for (let n = 0; n < 3; n += 1) await passed(kit, 60 * minute);
  const again = await kit.workers.submit(handle, "done", {});
  assert.equal(again.ok ? "" : again.reason, "unknown_handle");
});

test("the prompt says folder, roots and limits", async (t) => {
  const { kit, task, handle } = await spawned(t, {
    ...operatorTask({ operator: "builder", deadline_ms: 60 * minute }),
    rights: { tools: "*", roots: ["/srv/site", "/srv/notes"] },
    budget: { tokens: 12_000 },
  });
  const fetched = await kit.workers.prompt(handle, { task_id: task });
  assert.ok(fetched.ok);
  const { folder, roots, limits } = fetched.value;
  assert.deepEqual({ folder, roots }, { folder: "/srv/site", roots: ["/srv/site", "/srv/notes"] });
  assert.deepEqual(limits, { deadline: kit.clock.now() + 60 * minute, tokens: 12_000, money_micro_usd: 10_000_000 });
});

test("what a worker reports to have used is settled against the budget, once, and is not part of what was said", async (t) => {
  const { kit, task, handle } = await spawned(t, operatorTask({ operator: "builder", ack_ms: 0 }));
  const usage = { type: "usage", input_tokens: 100, output_tokens: 20, money_micro_usd: 7 } as const;
  const post = { events: [usage], key: "u1" };
  assert.ok((await kit.workers.events(handle, post)).ok);
  assert.ok((await kit.workers.events(handle, post)).ok);
  const last = { input_tokens: 3, output_tokens: 0, money_micro_usd: null };
  assert.ok((await kit.workers.result(handle, { task_id: task, value: "done", ok: true, usage: last })).ok);
  assert.equal(await contentOf(kit, task), "done");
  const id = idInName(kit.store.salt, task) ?? assert.fail();
  const { tokens, money } = (await kit.view.task(id)) ?? assert.fail();
  assert.deepEqual({ tokens, money }, { tokens: 123, money: 7 });
  const events = await allEvents(kit);
  assert.deepEqual(
    events.filter(({ type }) => type === "message.added").map((event) => event.task),
    [],
  );
});

test("a progress key that is used again with other content is refused, and the first post stands", async (t) => {
  const { kit, handle } = await spawned(t, operatorTask({ operator: "builder" }));
  const post = (text: string) => kit.workers.events(handle, { events: [{ type: "progress", text }], key: "p1" });
  assert.ok((await post("one")).ok);
  assert.ok((await post("one")).ok, "the same post again");
  const other = await post("two");
  assert.equal(other.ok ? "" : other.reason, "key_reused");
});
