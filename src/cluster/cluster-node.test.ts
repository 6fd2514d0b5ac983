import assert from "node:assert/strict";
import { after, test } from "node:test";

import { openNode } from "../../test/support/cluster-kit.ts";
import {
  again,
  answer,
  anything,
  ask,
  codeOf,
  gate,
  type Loops,
  person,
  task,
  text,
} from "../../test/support/engine-kit.ts";
import { postgresPrograms } from "../../test/support/postgres-server.ts";
import { newDatabase, sharedServer } from "../../test/support/stores.ts";
import { until, within } from "../../test/support/wait-until.ts";
import {
  ask as query,
  connectTo,
  type DatabaseAddress,
  readsFrom,
  type Reads,
} from "../store/postgres/database-connection.ts";
import type { TuttiError } from "../protocol/error.ts";
import { askName, idInName, ownSalt } from "../store/names.ts";
import { parkedReason, parkedTrees } from "./parked-trees.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
const reads: Reads[] = [];
after(async () => {
  await Promise.all(reads.map((each) => each.end()));
  if (skip === false) sharedServer().stop();
});

function looking(address: DatabaseAddress): Reads["rows"] {
  const made = readsFrom(address, 1);
  reads.push(made);
  return (sql, values) => made.rows(sql, values);
}

const isFenced = (error: TuttiError | undefined): boolean => error?.details?.["fenced"] === true;

const once = { repeatable: false, schema: text } as const;

/** As the death of the process: nothing more is heard of the node, and nothing is said. */
async function silence(address: DatabaseAddress, incarnation: number): Promise<void> {
  const client = await connectTo(address);
  await query(client, "UPDATE node_leases SET until = now() - interval '1 second' WHERE incarnation = $1", [
    incarnation,
  ]);
  // The tests' database has just started, which would protect the node.
  await query(client, "UPDATE nodes SET lease_ms = 0 WHERE incarnation = $1", [incarnation]);
  await client.end();
}

test(
  "the trees of a node whose lease ended go on at another node, and no step that may not be repeated runs twice",
  { skip },
  async (t) => {
    const address = newDatabase();
    const ran: string[] = [];
    const hold = gate();
    const loops: Loops = {
      work: async (d) => {
        const done: unknown[] = [];
        for (let step = 0; step < 3; step += 1) {
          done.push(
            await d
              .step(`s${step}`, once, async ({ key }) => {
                ran.push(key);
                if (step === 1) await hold.opened;
                return `did ${step}`;
              })
              .catch((thrown: unknown) => (thrown instanceof Error && "code" in thrown ? thrown.code : thrown)),
          );
        }
        return done;
      },
    };
    const a = await openNode(t, address, loops, { name: "a" });
    const b = await openNode(t, address, loops, { name: "b" });
    const names = await Promise.all(
      Array.from({ length: 5 }, async () => (await a.node.engine.start(task("work"))).task),
    );
    await until(() => ran.length === 10, "every tree is inside its second step");
    const stale = a.node.engine;
    await silence(address, a.node.node.incarnation);
    await b.node.beat();
    const contents = await Promise.all(names.map(async (name) => (await b.node.engine.result(name)).content));
    for (const content of contents) assert.deepEqual(content, ["did 0", "outcome_unknown", "did 2"]);
    assert.equal(new Set(ran).size, ran.length, "each step ran at most once");
    hold.open();
    await until(() => a.fenced.length > 0, "the first node is told that it is dead");
    assert.ok(isFenced(a.fenced[0]));
    assert.ok(stale.halted !== undefined);
    await a.node.rejoined();
    const again1 = await a.node.engine.start(task("work"));
    assert.equal((await a.node.engine.result(again1.task)).status, "completed", "it has joined anew and works");
  },
);

test("trees whose takeover was cut off by the database are taken over when it is back", { skip }, async (t) => {
  const address = newDatabase();
  const hold = gate();
  const loops: Loops = {
    work: async (d) => {
      await hold.opened;
      return d.step("s", { repeatable: true, schema: text }, () => "did it");
    },
  };
  const a = await openNode(t, address, loops, { name: "a" });
  const b = await openNode(t, address, loops, { name: "b", leaseMs: 60_000 });
  const { task: name } = await a.node.engine.start(task("work"));
  const rows = looking(address);
  const locking = await connectTo(address);
  t.after(() => locking.end());
  await locking.query("BEGIN; LOCK TABLE mail IN ACCESS EXCLUSIVE MODE");
  await silence(address, a.node.node.incarnation);
  const beaten = b.node.beat();
  const loading = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%JOIN mail%'`;
  await until(async () => (await rows(`SELECT 1 ${loading}`)).length === 1, "the tree is being loaded");
  await rows(`SELECT pg_terminate_backend(pid) ${loading}`);
  await locking.query("COMMIT");
  await beaten;
  hold.open();
  const result = await within(() => b.node.tasks.result(name), "its result");
  assert.equal(result.content, "did it");
});

test(
  "split brain: a node that wakes after its trees were taken is refused by the fence, and by nothing else",
  { skip },
  async (t) => {
    for (const fence of [true, false]) {
      const address = newDatabase();
      const rows = looking(address);
      const loops: Loops = { wait: (d) => d.wait("q", { ask, schema: anything }) };
      const a = await openNode(t, address, loops, { name: "a", leaseMs: 60_000 });
      const b = await openNode(t, address, loops, { name: "b", leaseMs: 60_000 });
      const { task: name } = await a.node.engine.start(task("wait"));
      const { store } = a.node.node;
      await until(async () => (await rows("SELECT 1 FROM waits"))[0], "the question is asked");
      await silence(address, a.node.node.incarnation);
      await b.node.beat();
      const id = idInName(store.salt, name) ?? 0;
      assert.equal((await rows("SELECT epoch FROM trees WHERE root = $1", [id]))[0]?.["epoch"], 2);
      if (!fence) {
        const [made] = await rows(
          "SELECT pg_get_functiondef(oid) AS sql FROM pg_proc WHERE proname = 'pass_fence' AND pronamespace = current_schema()::regnamespace",
        );
        const sql = String(made?.["sql"]);
        assert.ok(sql.includes("AND alive AND last_batch"));
        await rows(sql.replace("AND alive AND last_batch", "AND last_batch"));
      }
      // A row of the old owner that no unique key stands against.
      store.addMail(id, '{"role":"user","parts":[]}');
      const outcome = await codeOf(store.committed());
      const kept = await rows("SELECT 1 FROM mail");
      if (fence) {
        assert.equal(outcome, "locked");
        assert.ok(isFenced(store.failure));
        assert.equal(kept.length, 0);
      } else {
        assert.deepEqual([outcome, kept.length], ["no error", 1], "without the fence the dead node would have written");
      }
    }
  },
);

test(
  "a node that is stopped hands its trees over at once, and a question is answered where it went",
  { skip },
  async (t) => {
    const address = newDatabase();
    const loops: Loops = {
      asks: async (d) => {
        await d.step("before", again, () => "x");
        return d.wait("q", { ask, schema: anything });
      },
    };
    const a = await openNode(t, address, loops, { name: "a", leaseMs: 60_000 });
    const { task: name } = await a.node.engine.start(task("asks"));
    const rows = looking(address);
    const wait = await until(async () => (await rows("SELECT id FROM waits"))[0], "the question is asked");
    const b = await openNode(t, address, loops, { name: "b", leaseMs: 60_000 });
    await a.node.close();
    await b.node.beat();
    const open = `ask_${ownSalt(b.node.node.store.salt)}_${Number(wait["id"]).toString(36)}`;
    const delivered = await b.node.engine.deliver(open, answer("yes"), person);
    assert.equal(delivered.outcome, "accepted");
    assert.deepEqual((await b.node.engine.result(name)).content, { value: answer("yes"), by: person });
  },
);

test(
  "the trees of a lost node are shared among the others, and go only where their needs are met",
  { skip },
  async (t) => {
    const address = newDatabase();
    const rows = looking(address);
    const loops: Loops = { wait: (d) => d.wait("q", { ask, schema: anything }) };
    const a = await openNode(t, address, loops, { name: "a", leaseMs: 60_000, labels: ["gpu"] });
    for (let count = 0; count < 9; count += 1) await a.node.engine.start(task("wait"));
    await until(async () => (await rows("SELECT id FROM waits")).length === 9, "all ask");
    const b = await openNode(t, address, loops, { name: "b", leaseMs: 60_000 });
    const c = await openNode(t, address, loops, { name: "c", leaseMs: 60_000 });
    await rows("UPDATE trees SET needs = '{gpu}' WHERE root = (SELECT MAX(root) FROM trees)");
    await a.node.close();
    for (const each of [b, c, b, c, b, c]) await each.node.beat();
    const owned = await rows(
      "SELECT count(*) AS n FROM trees JOIN nodes ON incarnation = owner WHERE alive GROUP BY owner ORDER BY owner",
    );
    const counts = owned.map((row) => Number(row["n"]));
    assert.ok(counts.length === 2 && counts.every((count) => count >= 3), `they have ${counts.join(" and ")}`);
    const parked = await rows(
      "SELECT needs FROM trees t WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.alive AND n.incarnation = t.owner)",
    );
    assert.equal(parked.length, 1, "nobody has what the last tree needs");
    const [told, ...others] = await parkedTrees({ rows });
    assert.deepEqual([told?.missing, others], [["gpu"], []]);
    assert.match(parkedReason({ missing: ["gpu"] }), /^no node that is up has gpu;/);
    const d = await openNode(t, address, loops, { name: "d", leaseMs: 60_000, labels: ["gpu", "big"] });
    await d.node.beat();
    assert.equal((await rows("SELECT 1 FROM trees WHERE owner = $1", [d.node.node.incarnation])).length, 1);
  },
);

test(
  "a commit whose answer was lost is sent again and taken once; the work goes on after a crash of the database",
  { skip },
  async (t) => {
    const address = newDatabase();
    const rows = looking(address);
    const loops: Loops = {
      steps: async (d) => {
        for (let step = 0; step < 200; step += 1) await d.step(`s${step}`, once, () => "x");
        return "all";
      },
    };
    const a = await openNode(t, address, loops, { name: "a", leaseMs: 30_000 });
    const names = await Promise.all(
      Array.from({ length: 5 }, async () => (await a.node.engine.start(task("steps"))).task),
    );
    for (let cut = 0; cut < 5; cut += 1) {
      await new Promise((resolve) => setTimeout(resolve, 15));
      await rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%commit_%' AND pid <> pg_backend_pid()",
      );
    }
    sharedServer().crash();
    sharedServer().start();
    for (const name of names) assert.equal((await a.node.engine.result(name)).content, "all");
    assert.ok(a.node.node.resent > 0, "a commit was cut off");
    assert.deepEqual(a.fenced, []);
    const [counted] = await until(
      () =>
        rows("SELECT count(*) AS n, count(DISTINCT (run, key)) AS d FROM log WHERE key LIKE 's%'").catch(
          () => undefined,
        ),
      "the database answers",
    );
    assert.deepEqual([counted?.["n"], counted?.["d"]], [1_000, 1_000]);
  },
);

test(
  "a node that joins gets its share of the trees that have begun nothing that may not be repeated, and no step is cut off",
  { skip },
  async (t) => {
    const address = newDatabase();
    const rows = looking(address);
    const ran: string[] = [];
    const hold = gate();
    const loops: Loops = {
      wait: (d) => d.wait("q", { ask, schema: anything }),
      busy: async (d) => {
        const read = await d.step("read", again, async ({ key }) => {
          ran.push(key);
          await hold.opened;
          return "read";
        });
        return [read, await d.wait("q", { ask, schema: anything })];
      },
      bound: async (d) => {
        await d.step("write", once, () => "written");
        return d.wait("q", { ask, schema: anything });
      },
    };
    const a = await openNode(t, address, loops, { name: "a", leaseMs: 60_000 });
    const start = (agent: string): Promise<unknown> => a.node.tasks.start(task(agent));
    await Promise.all(["wait", "wait", "wait", "wait", "bound", "bound", "busy", "busy"].map(start));
    await until(async () => (await rows("SELECT 1 FROM waits")).length === 6 && ran.length === 2, "all are under way");
    const b = await openNode(t, address, loops, { name: "b", leaseMs: 60_000 });
    const ownedBy = async ({ node }: typeof a): Promise<string[]> => {
      const sql = "SELECT agent FROM trees JOIN tasks ON id = trees.root WHERE owner = $1 ORDER BY agent";
      return (await rows(sql, [node.node.incarnation])).map((row) => String(row["agent"]));
    };
    await a.node.beat();
    // Two steps are under way: their trees go when the steps have ended.
    hold.open();
    await until(async () => {
      await a.node.beat();
      await b.node.beat();
      return (await ownedBy(b)).length === 4;
    }, "the second node has its share");
    assert.deepEqual((await ownedBy(a)).filter((agent) => agent === "bound").length, 2, "what has begun there stays");
    assert.equal(new Set(ran).size, ran.length, "no step ran twice");
    await until(async () => (await rows("SELECT 1 FROM waits")).length === 8, "all ask");
    for (const { id } of await rows("SELECT id FROM waits")) {
      const name = askName(a.node.node.store.salt, Number(id));
      assert.equal((await a.node.tasks.deliver(name, answer("yes"), person)).outcome, "accepted");
    }
    await until(async () => (await rows("SELECT 1 FROM trees WHERE open")).length === 0, "all are done");
    assert.deepEqual(await rows("SELECT status, count(*) AS n FROM results GROUP BY status"), [
      { status: "completed", n: 8 },
    ]);
    assert.deepEqual([a.fenced, b.fenced], [[], []]);
  },
);
