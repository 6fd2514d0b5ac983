import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { openProcessIn } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { fakeClock } from "../../engine/fake-clock.ts";
import { taskName } from "../../store/names.ts";
import { defaultLives } from "../../protocol/operator/lease.ts";
import { Leases } from "./leases.ts";

const minute = 60_000;

const keys = { isRevoked: () => false };

/** Each call opens the same store once more, as another process would. */
function processes(t: TestContext) {
  const [folder, clock] = [tempFolder(t), fakeClock()];
  const open = () => {
    const { store, committed } = openProcessIn(folder);
    t.after(() => store.close());
    const leases = new Leases({ salt: store.salt, records: store.records, committed, clock, keys });
    return { leases, committed, task: taskName(store.salt, 1) };
  };
  const rights = { task: 1, attempt: 1, expires_at: clock.now() + 30 * minute };
  return { open, clock, rights };
}

test("a prompt fetched at one process keeps another from offering the task again", async (t) => {
  const { open, rights } = processes(t);
  const [here, there] = [open(), open()];
  here.leases.recordOffer(rights, "key_a");
  assert.equal(await here.leases.recordFetch(rights, defaultLives), undefined);
  assert.equal(there.leases.isTaken(1, 1), true);
  const later = { ...rights, expires_at: rights.expires_at + minute };
  there.leases.recordOffer(later, "key_a");
  there.leases.voidOffer(1, 1);
  await there.committed();
  assert.equal(there.leases.offerStands(later), false);
  assert.equal(here.leases.whyVoid(rights), undefined, "the worker keeps its rights");
});

test("an offer taken back at one process refuses the prompt at another", async (t) => {
  const { open, rights } = processes(t);
  const [here, there] = [open(), open()];
  here.leases.recordOffer(rights, "key_a");
  here.leases.voidOffer(1, 1);
  await here.committed();
  assert.equal(await there.leases.recordFetch(rights, defaultLives), "offered_again");
  assert.equal(there.leases.isTaken(1, 1), false);
  const fresh = { ...rights, expires_at: there.leases.voidUntil(1, 1) + 1 };
  there.leases.recordOffer(fresh, "key_a");
  await there.committed();
  assert.equal(here.leases.offerStands(fresh), true);
  assert.equal(await here.leases.recordFetch(fresh, defaultLives), undefined);
});

test("of a fetch and a taking back in the same tick the first one counts", async (t) => {
  const { open, rights } = processes(t);
  for (const [attempt, fetchFirst] of [
    [1, true],
    [2, false],
  ] as const) {
    const { leases } = open();
    const mine = { ...rights, attempt };
    leases.recordOffer(mine, "key_a");
    if (!fetchFirst) leases.voidOffer(1, attempt);
    const fetched = leases.recordFetch(mine, defaultLives);
    if (fetchFirst) leases.voidOffer(1, attempt);
    assert.equal(await fetched, fetchFirst ? undefined : "offered_again");
    assert.equal(leases.whyVoid(mine), fetchFirst ? undefined : "offered_again");
  }
});

test("a task counts as taken as soon as its worker fetches the prompt, before that is committed", async (t) => {
  const { open, rights } = processes(t);
  const { leases } = open();
  leases.recordOffer(rights, "key_a");
  const fetching = leases.recordFetch(rights, defaultLives);
  assert.equal(leases.isTaken(1, 1), true);
  await fetching;
  assert.equal(leases.isTaken(1, 1), true);
});

test("a sign of life that is still queued counts when the lease is looked at", async (t) => {
  const { open, clock, rights } = processes(t);
  const { leases, task } = open();
  leases.recordProgress(rights, defaultLives);
  clock.advance(2 * minute);
  leases.recordSignOfLife(rights, defaultLives);
  assert.equal(await leases.leaseLeft(task, 1, { acked: false }), 2 * minute);
});
