import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";

import { NodeNews, type NodeOrder } from "../../test/support/guarded-node.ts";
import { killChild } from "../../test/support/kill-process.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { until } from "../../test/support/wait-until.ts";
import { processTable } from "../runner/shared/process/process-table.ts";
import { elapsedMs } from "./elapsed-clock.ts";

const program = new URL("../../test/support/guarded-node.ts", import.meta.url);
const onLinux = { skip: process.platform !== "linux" && "only Linux tells the environment of a process" };

interface PlayedNode {
  readonly process: ChildProcess;
  readonly news: NodeNews[];
  tell(order: NodeOrder): void;
  /** Starts a shell and resolves to its pid when it was released. */
  start(step: string, script: string): Promise<number>;
  heard<K extends NodeNews["kind"]>(kind: K): Extract<NodeNews, { kind: K }>[];
  /** Until when nobody could take its trees. */
  leaseEnd(): number;
}

async function play(t: TestContext, leaseMs = 4_000): Promise<PlayedNode> {
  const child = fork(program, [String(leaseMs)], { execArgv: [] });
  t.after(async () => {
    child.kill("SIGCONT");
    await killChild(child);
  });
  const news: NodeNews[] = [];
  child.on("message", (message) => news.push(NodeNews.parse(message)));
  const heard = <K extends NodeNews["kind"]>(kind: K): Extract<NodeNews, { kind: K }>[] =>
    news.filter((each): each is Extract<NodeNews, { kind: K }> => each.kind === kind);
  const tell = (order: NodeOrder): void => void child.send(order);
  await until(() => heard("up").length > 0, "the node is up");
  return {
    process: child,
    news,
    tell,
    heard,
    async start(step, script) {
      tell({ do: "start", step, script });
      return (await until(() => heard("started").find((each) => each.step === step), `${step} was started`)).pid;
    },
    leaseEnd: () => Math.max(...heard("renewed").map((each) => each.until)),
  };
}

async function runs(pid: number): Promise<boolean> {
  return (await processTable.list()).some((entry) => entry.pid === pid && !entry.ended);
}

/** Resolves to the time at which none of them was there any more. */
async function gone(pids: readonly number[]): Promise<number> {
  for (const pid of pids) await until(async () => !(await runs(pid)), `${pid} has ended`);
  return elapsedMs();
}

async function pidIn(file: string): Promise<number> {
  await until(() => existsSync(file) && readFileSync(file, "utf8").trim() !== "", `${file} is written`);
  return Number(readFileSync(file, "utf8"));
}

const key = (name: string): string => `watchdog-${process.pid}/1.1/${name}`;

describe("the watchdog of a node", { concurrency: true }, () => {
  test("ends the processes of a frozen node before its lease can be taken, also detached ones and those that ignore it", async (t) => {
    const node = await play(t);
    const folder = tempFolder(t);
    const detached = `setsid sh -c 'echo $$ > ${folder}/detached; exec sleep 60' & exec sleep 60`;
    const first = await node.start(key("frozen"), detached);
    const second = await node.start(key("stubborn"), "trap '' TERM; while :; do sleep 1; done");
    const third = await pidIn(join(folder, "detached"));
    node.process.kill("SIGSTOP");
    const end = await gone([first, second, third]);
    // Nothing is said while it is frozen, so the last renewal that was told is the last one.
    assert.ok(end < node.leaseEnd(), `they ended ${Math.round(end - node.leaseEnd())} ms after the lease`);
    node.process.kill("SIGCONT");
    const [told] = await until(() => node.heard("ended").length > 0 && node.heard("ended"), "the node was told");
    assert.deepEqual([...(told?.steps ?? [])].toSorted(), [key("frozen"), key("stubborn")]);
    assert.deepEqual(told?.left, []);
  });

  test("ends them when no renewal comes, starts none meanwhile, and goes on with the next renewal", async (t) => {
    const node = await play(t, 8_000);
    const first = await node.start(key("muted"), "exec sleep 60");
    node.tell({ do: "mute" });
    const end = await gone([first]);
    assert.ok(end < node.leaseEnd(), `it ended ${Math.round(end - node.leaseEnd())} ms after the lease`);
    await until(() => node.heard("ended").length > 0, "the node was told");
    const file = join(tempFolder(t), "ran");
    node.tell({ do: "start", step: key("late"), script: `echo ran > ${file}` });
    // One that needs no watchdog is there meanwhile.
    node.tell({ do: "hold", step: key("held") });
    await until(() => node.heard("started").some(({ step }) => step === key("held")), "another was held");
    assert.equal(
      node.heard("started").some(({ step }) => step === key("late")),
      false,
    );
    assert.equal(existsSync(file), false);
    node.tell({ do: "renew" });
    await until(() => existsSync(file), "the process that waited has run");
  });

  test("ends everything when the node is killed, also what was never noted, and then itself", onLinux, async (t) => {
    const node = await play(t, 60_000);
    const [{ watchdog } = { watchdog: 0 }] = node.heard("up");
    const first = await node.start(key("killed"), "exec sleep 60");
    node.tell({ do: "spawn", script: "exec sleep 60" });
    node.tell({ do: "hold", step: key("unreleased") });
    const second = await until(() => node.heard("spawned")[0]?.pid, "the other was started");
    const third = await until(() => node.heard("started").find(({ step }) => step === key("unreleased"))?.pid, "held");
    assert.equal(await runs(first), true);
    await killChild(node.process);
    await gone([first, second, third, watchdog]);
  });

  test("is replaced when it is killed, and the one after it knows what runs", async (t) => {
    const node = await play(t, 60_000);
    const [{ watchdog } = { watchdog: 0 }] = node.heard("up");
    const first = await node.start(key("before"), "exec sleep 60");
    process.kill(watchdog, "SIGKILL");
    await until(() => node.heard("problem")[0]?.message.includes("the watchdog of this node is gone"), "it was told");
    assert.equal(await runs(first), true);
    const second = await node.start(key("after"), "exec sleep 60");
    node.tell({ do: "renew" });
    const others = (): number[] => node.heard("renewed").flatMap(({ watchdog: pid = watchdog }) => pid);
    const other = await until(() => others().find((pid) => pid !== watchdog), "there is another one");
    await killChild(node.process);
    await gone([first, second, other]);
  });

  test("is replaced when it is frozen", async (t) => {
    const node = await play(t, 8_000);
    const [{ watchdog } = { watchdog: 0 }] = node.heard("up");
    process.kill(watchdog, "SIGSTOP");
    await until(() => node.heard("problem")[0]?.message.includes("it does not answer"), "it was noticed");
    const pid = await node.start(key("unfrozen"), "exec sleep 60");
    assert.equal(await runs(watchdog), false);
    assert.equal(await runs(pid), true);
  });

  test("catches a chain of processes that each start the next one and end", onLinux, async (t) => {
    const node = await play(t, 4_000);
    const folder = tempFolder(t);
    const beats = join(folder, "beats");
    // Ends by itself, in case nobody ends it.
    const link = `n=$1; [ "$n" -gt 20000 ] && exit; echo "$n" > ${beats}; setsid sh "$0" $((n + 1)) & exit`;
    const script = join(folder, "link.sh");
    writeFileSync(script, link);
    await node.start(key("chain"), `exec sh ${script} 1`);
    await until(() => existsSync(beats) && Number(readFileSync(beats, "utf8")) > 20, "the chain goes on");
    node.process.kill("SIGSTOP");
    const steps = `TUTTI_STEP=${key("chain")}`;
    const isThere = async (): Promise<boolean> =>
      (await processTable.list()).some((entry) => processTable.environment(entry.pid).includes(steps));
    const beat = (): string => readFileSync(beats, "utf8");
    await until(async () => {
      const before = beat();
      for (let look = 0; look < 20; look += 1) if ((await isThere()) || beat() !== before) return false;
      return true;
    }, "the chain has ended");
    assert.ok(Number(beat()) < 20_000);
  });

  test("leaves nothing when the node closes it", async (t) => {
    const node = await play(t, 60_000);
    const [{ watchdog } = { watchdog: 0 }] = node.heard("up");
    const first = await node.start(key("closed"), "exec sleep 60");
    node.tell({ do: "close" });
    await until(() => node.heard("closed").length > 0, "it was closed");
    assert.equal(await runs(first), false);
    assert.equal(await runs(watchdog), false);
    node.process.disconnect();
    await once(node.process, "exit");
  });
});
