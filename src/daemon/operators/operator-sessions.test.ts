import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test, type TestContext } from "node:test";

import { openProcessIn } from "../../../test/support/stores.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { fakeClock } from "../../engine/fake-clock.ts";
import { OperatorSessions } from "./operator-sessions.ts";

const keys = { isRevoked: () => false };
const signingKey = {
  mac: (purpose: string, text: string) => createHmac("sha256", "secret").update(`${purpose} ${text}`).digest("hex"),
};

/** Each call opens the same store once more, as another process would. */
function processes(t: TestContext): () => OperatorSessions {
  const [folder, clock] = [tempFolder(t), fakeClock()];
  return () => {
    const { store, committed } = openProcessIn(folder);
    t.after(() => store.close());
    return new OperatorSessions({
      records: store.records,
      committed,
      clock,
      keys,
      signingKey,
    });
  };
}

async function joined(sessions: OperatorSessions, ...roles: string[]) {
  const result = await sessions.join(roles, "key_1");
  assert.ok(result.ok);
  return { session: result.session, sid: result.session.row.sid, token: result.token };
}

test("an operator session that joined at one process is known to another that was already running", async (t) => {
  const open = processes(t);
  const [here, there] = [open(), open()];
  const { sid, token } = await joined(here, "builder");
  assert.equal(there.authenticates(sid, token), "yes");
  assert.equal(there.authenticates(sid, `${token}0`), "no");
  assert.equal(there.get(sid)?.row.sid, sid);
  assert.equal(there.find("builder")?.row.sid, sid);
  assert.deepEqual(
    there.all().map(({ row }) => row.sid),
    [sid],
  );
});

test("of several processes that join an operator with the same name at once, one does", async (t) => {
  const open = processes(t);
  const results = await Promise.all([open(), open(), open()].map((each) => each.join(["builder", "ops"], "key_1")));
  assert.equal(results.filter(({ ok }) => ok).length, 1);
  for (const result of results) if (!result.ok) assert.deepEqual(result.conflicts, ["builder", "ops"]);
});

test("of several joins with the same name in one process and one tick, one succeeds", async (t) => {
  const sessions = processes(t)();
  const results = await Promise.all(["a", "b", "c"].map((own) => sessions.join([own, "builder"], "key_1")));
  assert.deepEqual(
    results.map((result) => (result.ok ? [] : result.conflicts)),
    [[], ["builder"], ["builder"]],
  );
});

test("an operator session that was removed is unknown at once, and its name is free before that is committed", async (t) => {
  const sessions = processes(t)();
  const { session, sid, token } = await joined(sessions, "builder");
  sessions.remove(session);
  assert.equal(sessions.authenticates(sid, token), "unknown_sid");
  assert.deepEqual([sessions.get(sid), sessions.find("builder"), sessions.all()], [undefined, undefined, []]);
  assert.equal(sessions.isCurrent(session), false);
  const next = await joined(sessions, "builder");
  assert.equal(sessions.find("builder")?.row.sid, next.sid);
});

test("an operator session that one process removed is not brought back when another has seen it", async (t) => {
  const open = processes(t);
  const [here, there] = [open(), open()];
  const { session, sid, token } = await joined(here, "builder");
  const seen = there.get(sid) ?? assert.fail();
  here.remove(session);
  const next = await joined(here, "builder");
  there.touch(seen);
  await joined(there);
  assert.equal(there.authenticates(sid, token), "unknown_sid");
  assert.equal(there.find("builder")?.row.sid, next.sid);
});

test("an operator session that is idle at one process and was seen at another is kept", async (t) => {
  const [folder, clock] = [tempFolder(t), fakeClock()];
  const open = () => {
    const { store, committed } = openProcessIn(folder);
    t.after(() => store.close());
    return new OperatorSessions({
      records: store.records,
      committed,
      clock,
      keys,
      signingKey,
    });
  };
  const [here, there] = [open(), open()];
  const { session, sid, token } = await joined(here, "builder");
  clock.advance(60_000);
  there.touch(there.get(sid) ?? assert.fail());
  await joined(there);
  here.removeIdle(session);
  await joined(here);
  assert.equal(here.authenticates(sid, token), "yes");
  assert.equal(here.find("builder")?.row.sid, sid);
});

test("joining again with the same idempotency key finds the session and gives its token, also at another process", async (t) => {
  const open = processes(t);
  const [here, there] = [open(), open()];
  const twice = await Promise.all([here.joinOnce(["a"], "key_1", "k"), here.joinOnce(["a"], "key_1", "k")]);
  const again = await there.joinOnce(["a"], "key_1", "k");
  const found = [...twice, again].map((each) => (each.ok ? [each.session.row.sid, each.token] : each.conflicts));
  const [[sid = "", token = ""] = []] = found;
  assert.deepEqual(found, [found[0], found[0], found[0]]);
  assert.equal(there.authenticates(sid, token), "yes");
  await assert.rejects(here.joinOnce(["b"], "key_1", "k"), { code: "conflict" });
  const foreign = await here.joinOnce([], "key_2", "k");
  assert.ok(foreign.ok && foreign.token !== token, "the key of another caller is another key");
  const session = here.get(sid) ?? assert.fail();
  here.remove(session);
  const anew = await here.joinOnce(["a"], "key_1", "k");
  assert.ok(anew.ok && anew.token !== token && anew.session.row.sid !== sid, "a token that has ended stays ended");
});
