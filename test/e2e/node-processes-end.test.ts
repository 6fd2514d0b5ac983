// The processes of a node that is lost end before another node goes on with their tasks.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { processTable } from "../../src/runner/shared/process/process-table.ts";
import { type NodeProcess, nodeProcesses } from "../support/node-processes.ts";
import { postgresPrograms } from "../support/postgres-server.ts";
import { sharedServer } from "../support/stores.ts";
import { until } from "../support/wait-until.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;
after(() => {
  if (skip === false) sharedServer().stop();
});

/** A command that writes its pid and that of a process which it detaches, and would go on for a minute. */
function longCommand(folder: string): string {
  const script = `setsid sh -c 'echo $$ > detached; exec sleep 60' & echo $$ > leader; exec sleep 60`;
  return JSON.stringify({
    invocation: {
      targets: [
        {
          agent: { type: "named", agent_id: "sleeper" },
          message: { role: "user", parts: [{ part_type: "text", data: "Sleep." }] },
        },
      ],
      executor: {
        kind: "force",
        type: "remote",
        runner: { kind: "command", config: { argv: ["/bin/sh", "-c", script], workdir: folder } },
      },
    },
    agents: { sleeper: { instructions: "Sleeps." } },
    roots: [folder],
  });
}

async function pidIn(folder: string, name: string): Promise<number> {
  const file = join(folder, name);
  return Number(await until(() => existsSync(file) && readFileSync(file, "utf8").trim(), `${name} runs`));
}

async function areGone(pids: readonly number[]): Promise<boolean> {
  return !(await processTable.list()).some(({ pid, ended }) => pids.includes(pid) && !ended);
}

for (const [how, lose] of [
  ["frozen", (node: NodeProcess) => node.freeze()],
  ["killed", (node: NodeProcess) => void node.kill()],
] as const) {
  test(
    `a command of a node that is ${how} has ended when its task goes on elsewhere, and is not run again`,
    {
      skip,
    },
    async (t) => {
      const nodes = nodeProcesses(t);
      const [a, b] = [await nodes.start("a"), await nodes.start("b")];
      const { task } = await a.tutti.invoke(longCommand(a.folder), { folder: a.folder });
      const pids = [await pidIn(a.folder, "leader"), await pidIn(a.folder, "detached")];
      lose(a);
      const leaf = await until(
        async () => (await b.tutti.tree(task)).find(({ id, status }) => id !== task && status === "failed"),
        "the other node has gone on",
      );
      assert.equal(await areGone(pids), true, "nothing of it runs any more");
      const { content } = await b.tutti.result(leaf.id, AbortSignal.timeout(240_000));
      assert.match(JSON.stringify(content), /outcome_unknown/);
      if (how !== "frozen") return;
      a.thaw();
      await until(() => a.said().includes("the processes that it had started were ended"), "the node was told");
    },
  );
}
