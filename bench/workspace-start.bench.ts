// What it costs to start a workspace of a repository with 20,000 files, against `git worktree add` alone. Most of the work is
// done by git in processes of its own, so their CPU time counts, too.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createWorkspace } from "../src/workspace/create-workspace.ts";
import { openWorkspaces } from "../src/workspace/record-store.ts";
import { type Cost, costOf, leastCost, report, round } from "./measure.ts";

const files = 20_000;
const perFolder = 200;
const rounds = 2;

const folder = mkdtempSync(join(tmpdir(), "tutti-bench-"));
const project = join(folder, "project");
const git = (...args: string[]): void => {
  execFileSync("git", args, { cwd: project, stdio: "ignore" });
};

/** CPU milliseconds of processes that this one started and that have ended. Linux counts them in hundredths of a second. */
function childrenCpuMs(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

async function wholeCost(work: () => Promise<void>): Promise<Cost> {
  const before = childrenCpuMs();
  const own = await costOf(work);
  return { cpuMs: own.cpuMs + childrenCpuMs() - before, wallMs: own.wallMs };
}

try {
  for (let at = 0; at < files; at += 1) {
    const parent = join(project, `folder-${Math.floor(at / perFolder)}`);
    if (at % perFolder === 0) mkdirSync(parent, { recursive: true });
    writeFileSync(join(parent, `file-${at}.txt`), `${`line ${at}\n`.repeat(40)}`);
  }
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "files");

  const store = openWorkspaces(join(folder, "state"));
  const costs: { git: Cost[]; tutti: Cost[] } = { git: [], tutti: [] };
  for (let at = 1; at <= rounds; at += 1) {
    const plain = join(folder, `plain-${at}`);
    costs.git.push(await wholeCost(async () => git("worktree", "add", "-q", "-b", `plain-${at}`, plain)));
    const wanted = { task: "tsk_bench", attempt: at, project, now: at };
    const create = async (): Promise<void> => {
      await createWorkspace(store, wanted);
    };
    costs.tutti.push(await wholeCost(create));
  }
  const [alone, ours] = [leastCost(costs.git), leastCost(costs.tutti)];
  report({
    name: "workspace-start",
    ratio: ours.cpuMs / alone.cpuMs,
    target: 1.3,
    figures: {
      git_cpu_ms: round(alone.cpuMs, 0),
      tutti_cpu_ms: round(ours.cpuMs, 0),
      git_wall_ms: round(alone.wallMs, 0),
      tutti_wall_ms: round(ours.wallMs, 0),
      files,
    },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
