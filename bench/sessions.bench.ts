// What sixteen sessions of coding agents at once cost the daemon: growth of the resident memory of its process per session,
// its CPU time per session from the launch until 200 updates are recorded, and its CPU time while all of them only wait.
// Each session has a worktree of its own. The agents, and git, are processes of their own and are not counted.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { Tutti } from "../src/client/client.ts";
import { named, single } from "../src/protocol/invocation/invocation-builders.ts";
import { DaemonProcess } from "../test/e2e/daemon-process.ts";
import { agentFile } from "../test/support/acp-kit.ts";
import { report, round } from "./measure.ts";

const [sessions, warmUp, updates] = [16, 2, 200];
const [settleMs, idleMs, patienceMs] = [4_000, 10_000, 300_000];

function residentBytes(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  if (kb === undefined) throw new Error(`the memory of process ${pid} cannot be read`);
  return Number(kb) * 1024;
}

/** Of the process itself, in milliseconds. Linux counts hundredths of a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The least memory of a few looks once what had to be done is done. */
async function settled(pid: number): Promise<number> {
  let least = Infinity;
  for (let looks = 0; looks < 8; looks += 1) {
    await sleep(settleMs / 8);
    least = Math.min(least, residentBytes(pid));
  }
  return least;
}

/** Starts as many sessions, and resolves when each has sent its updates and they are recorded. */
async function startSome(tutti: Tutti, { folder, count, to }: { folder: string; count: number; to: number }) {
  const prompt = JSON.stringify([{ flood: updates }, { say: "ready" }, { write: "ready.txt" }, { hang: true }]);
  const executor = {
    kind: "force",
    type: "remote",
    runner: { kind: "acp", config: { profile: "scripted" } },
  } as const;
  const invocation = single(named("coder", prompt), { executor });
  const text = JSON.stringify({ invocation, agents: { coder: { instructions: "Follow the script." } }, roots: ["."] });
  const roots: string[] = [];
  for (let at = 0; at < count; at += 1) roots.push((await tutti.invoke(text, { folder, anew: true })).task);
  const workspaces = join(dirname(folder), "state-workspaces");
  const ready = (): number =>
    existsSync(workspaces)
      ? readdirSync(workspaces).filter((name) => existsSync(join(workspaces, name, "ready.txt"))).length
      : 0;
  for (const end = Date.now() + patienceMs; ready() < to; await sleep(200)) {
    if (Date.now() > end)
      throw new Error(`only ${ready()} of ${to} sessions got so far: ${JSON.stringify(await tutti.sessions())}`);
  }
  return roots;
}

const daemon = new DaemonProcess();
try {
  const { folder } = daemon;
  const project = join(folder, "project");
  mkdirSync(join(folder, ".tutti"), { mode: 0o700 });
  mkdirSync(project);
  writeFileSync(join(project, "a.txt"), "a\n");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: project, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "one");
  const scripted = { command: [process.execPath, agentFile, ".", "{}"], mode: "asking", metered: true };
  const toolchains = [dirname(agentFile), dirname(realpathSync(process.execPath))];
  const approvals = { execute: "free", network: "free" };
  const config = { acp: { profiles: { scripted }, toolchains }, approvals };
  writeFileSync(join(folder, ".tutti", "tutti.config.json"), JSON.stringify(config), { mode: 0o600 });
  await daemon.up();
  const tutti = daemon.client();
  // What the first ones make it load and compile is not theirs.
  await startSome(tutti, { folder: project, count: warmUp, to: warmUp });
  const before = { bytes: await settled(daemon.pid), cpu: cpuMs(daemon.pid) };
  await startSome(tutti, { folder: project, count: sessions, to: warmUp + sessions });
  const bytes = await settled(daemon.pid);
  const launched = cpuMs(daemon.pid);
  await sleep(idleMs);
  const idle = cpuMs(daemon.pid) - launched;
  const each = (bytes - before.bytes) / sessions / 2 ** 20;
  report({
    name: "sessions",
    ratio: each,
    target: 4,
    figures: {
      mb_per_session: round(each, 2),
      cpu_ms_per_session: round((launched - before.cpu) / sessions, 0),
      idle_cpu_percent_of_all: round((idle / idleMs) * 100, 2),
      sessions,
      updates,
    },
  });
} finally {
  await daemon.close();
}
