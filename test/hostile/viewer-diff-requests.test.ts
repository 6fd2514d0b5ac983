// A viewer asks for diffs over and over and goes away: few programs of git run for it at once, and none is left.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { createWorkspace } from "../../src/workspace/create-workspace.ts";
import { openWorkspaces } from "../../src/workspace/record-store.ts";
import { DaemonProcess } from "../e2e/daemon-process.ts";
import { repositoryAt, testRepository } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { until } from "../support/wait-until.ts";

/** So many looks run at once, and so many wait. */
const [atOnce, waiting] = [4, 64];
const patienceMs = 240_000;

/** A git that notes each diff and waits in it until it is let go on. */
function slowGit(folder: string) {
  const [bin, log, go] = [join(folder, "bin"), join(folder, "log"), join(folder, "go")];
  const git = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  mkdirSync(bin);
  const script = `#!/bin/sh
case " $* " in
  *" diff-tree "*) echo $$ >> '${log}'; while [ ! -e '${go}' ]; do sleep 0.05; done ;;
esac
exec '${git}' "$@"
`;
  writeFileSync(join(bin, "git"), script);
  chmodSync(join(bin, "git"), 0o755);
  const begun = (): number[] =>
    existsSync(log) ? readFileSync(log, "utf8").split("\n").filter(Boolean).map(Number) : [];
  return { bin, begun, running: () => begun().filter(isAlive), letGo: () => writeFileSync(go, "") };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("diffs that a viewer asks for run few at a time, the same one once, and end when it goes away", async (t) => {
  const git = slowGit(tempFolder(t));
  const daemon = new DaemonProcess({ env: { PATH: `${git.bin}:${process.env["PATH"] ?? ""}` } });
  t.after(() => daemon.close());
  await daemon.up();
  const repository = testRepository(t);
  const made = await createWorkspace(openWorkspaces(daemon.state), {
    task: "tsk_0_gone",
    attempt: 1,
    project: repository.folder,
    now: Date.now(),
  });
  assert.ok(made.state === "ready");
  repositoryAt(made.workspace.folder).commit({ "b.txt": "b\n" });
  const { key } = await daemon.client().addKey({ name: "looks", role: "viewer" });

  const refused: (string | null)[] = [];
  const ask = async (patchBytes: number, signal: AbortSignal): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    const path = `/v1/tasks/tsk_0_gone/diff?patch_bytes=${patchBytes}`;
    const response = await fetch(`${daemon.url}${path}`, { headers, signal });
    await response.text();
    if (response.status === 429) refused.push(response.headers.get("retry-after"));
    return response.status;
  };
  const going = new AbortController();
  const quietly = (asked: Promise<number>): void => void asked.catch(() => undefined);

  // Many ask for the same, of whom one stays.
  const staying = ask(0, AbortSignal.timeout(patienceMs));
  await until(() => git.begun().length === 1, "the first diff has begun", patienceMs);
  for (let each = 0; each < 30; each += 1) quietly(ask(0, going.signal));
  // The others take all places, and those that wait do, too. What goes beyond is refused.
  const tooMany = 12;
  for (let each = 1; each < atOnce + waiting + tooMany; each += 1) quietly(ask(each, going.signal));
  await until(() => refused.length === tooMany, "what is too much is refused", patienceMs);
  await until(() => git.begun().length === atOnce, "all places are taken", patienceMs);
  assert.ok(
    refused.every((after) => Number(after) > 0),
    "it is told when to ask again",
  );
  assert.equal(git.running().length, atOnce);

  going.abort();
  await until(() => git.running().length === 1, "what nobody waits for is ended", patienceMs);
  assert.ok(git.begun().length < 2 * atOnce, "what waited is not begun for nobody");
  assert.equal(refused.length, tooMany, "the same look was shared");
  git.letGo();
  assert.equal(await staying, 200, "who stayed gets the answer");
  await until(() => git.running().length === 0, "no diff is left", patienceMs);
});
