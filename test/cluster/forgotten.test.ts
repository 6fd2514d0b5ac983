// A database that comes back from an older copy of itself, as after a failover that lost acknowledged work: a node notices, and says so.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { openNode } from "../support/cluster-kit.ts";
import { anything, ask, type Loops, task, text } from "../support/engine-kit.ts";
import { postgresPrograms, startPostgres } from "../support/postgres-server.ts";
import { until } from "../support/wait-until.ts";
import { rowsOf } from "./node-process-kit.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;

test(
  "a failover that lost acknowledged work is noticed by the node whose commits are gone, which says so and joins anew",
  { skip },
  async (t) => {
    const server = startPostgres();
    t.after(() => server.stop());
    const address = { url: server.url, schema: "forgotten" };
    const loops: Loops = {
      waits: (d) => d.wait("q", { ask, schema: anything }),
      short: (d) => d.step("one", { repeatable: false, schema: text }, () => "done"),
    };
    const { node, fenced } = await openNode(t, address, loops, { name: "a", leaseMs: 60_000 });
    const start = async (agent: string): Promise<string> => (await node.tasks.start(task(agent))).task;
    await start("waits");
    const asked = async (): Promise<number> => (await rowsOf(address, "SELECT 1 FROM waits").catch(() => [])).length;
    await until(async () => (await asked()) === 1, "the first question is recorded");
    const [data, copy] = [join(server.folder, "data"), join(server.folder, "copy")];
    server.crash();
    execFileSync("cp", ["-a", data, copy]);
    server.start();
    // Acknowledged, and not in the copy.
    const lost = await until(() => start("waits").catch(() => undefined), "the database is back");
    await until(async () => (await asked()) === 2, "the second question is recorded");

    server.crash();
    execFileSync("rm", ["-r", data]);
    execFileSync("mv", [copy, data]);
    server.start();
    // Its next commit is not the one after the last that the database knows of.
    await until(async () => {
      await start("short").catch(() => undefined);
      return fenced.length > 0;
    }, "the node notices");
    assert.equal(fenced[0]?.details?.["forgotten"], true);
    assert.match(fenced[0]?.message ?? "", /lost commits that it had acknowledged/);
    await node.rejoined();
    const again = await until(() => start("short").catch(() => undefined), "it has joined anew and works");
    assert.equal((await node.engine.result(again)).content, "done");
    const rows = await rowsOf(address, "SELECT agent FROM tasks WHERE agent = 'waits'");
    assert.equal(rows.length, 1, `what was lost is lost: ${lost}`);
    await until(async () => {
      await node.beat();
      const open = await rowsOf(address, "SELECT owner FROM trees WHERE open");
      return open.length === 1 && open[0]?.["owner"] === node.node.incarnation;
    }, "what the copy has goes on");
  },
);
