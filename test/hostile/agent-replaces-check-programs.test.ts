// A session works in the person's own folder, whose environment is active, and puts another `pytest` there: later checks would run that.
import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { weighFact } from "../../src/core/make-evidence.ts";
import type { StepContext } from "../../src/ports.ts";
import { runChecksOfWork } from "../../src/runner/shared/checks-of-work.ts";
import { checkPrograms } from "../../src/runner/shared/sandbox/check-programs.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { openBaseCache } from "../../src/verification/index.ts";
import { createWorkspace, openWorkspaces } from "../../src/workspace/index.ts";
import { skipUnconfined as skip } from "../support/check-kit.ts";
import { testRepository } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";

const sandbox = await probeSandbox();
/** Runs what the project says. */
const honest = "#!/bin/sh\nexec sh ./check.sh\n";
/** Fails on the base, so that its pass looks as if the work had earned it. */
const evil = "#!/bin/sh\ntest -e work.txt\n";
const checkScript = "grep -q right work.txt\n";

interface Scene {
  /** A path in the environment. */
  readonly at: (path: string) => string;
  /** A session begins in the person's own folder. */
  readonly share: () => Promise<void>;
  /** Of a check of work that says `text`: what came out, what it weighs, and who has to settle it. */
  readonly verify: (
    text: string,
  ) => Promise<{ readonly weight: readonly unknown[]; readonly files: readonly string[] }>;
}

function scene(t: TestContext, { below = ".venv", outside = false } = {}): Scene {
  const repository = testRepository(t, { ".gitignore": ".venv\nnode_modules\n", "check.sh": checkScript });
  const base = repository.git("rev-parse", "HEAD");
  const at = (path: string): string => join(outside ? join(repository.folder, "..") : repository.folder, below, path);
  const bin = at(below === "node_modules" ? ".bin" : "bin");
  mkdirSync(bin, { recursive: true });
  mkdirSync(at("lib"));
  if (below !== "node_modules") writeFileSync(at("pyvenv.cfg"), "");
  writeFileSync(at("lib/runner.py"), "");
  writeFileSync(join(bin, "pytest"), honest, { mode: 0o755 });
  const path = process.env["PATH"] ?? "";
  process.env["PATH"] = `${bin}:${path}`;
  const state = tempFolder(t, "tutti-state-");
  t.after(() => {
    process.env["PATH"] = path;
    if (outside) rmSync(at(""), { recursive: true });
  });
  const checks = tempFolder(t, "tutti-checks-");
  const store = openWorkspaces(state);
  const cache = openBaseCache(join(state, "checks"));
  const signal = AbortSignal.timeout(240_000);
  const step: StepContext = {
    signal,
    key: `tsk_${crypto.randomUUID()}/1.1/verify`,
    noted: undefined,
    note: async () => undefined,
    live: () => undefined,
    now: () => 0,
  };
  return {
    at,
    share: async () => {
      // The clock of files may be behind by a tick.
      const now = Date.now() + 20;
      while (Date.now() < now + 20) await new Promise((resolve) => setImmediate(resolve));
      await createWorkspace(store, {
        task: "tsk_1",
        attempt: 1,
        mode: "shared",
        project: repository.folder,
        now,
        signal,
      });
    },
    verify: async (text) => {
      const commit = repository.commit({ "work.txt": text });
      const { facts } = await runChecksOfWork(store, {
        gitDir: join(repository.folder, ".git"),
        commit,
        base,
        checks: [{ check: { run: ["pytest"] }, named_by: "person", is_criterion: true }],
        folder: join(checks, "checks"),
        runProgram: checkPrograms({ sandbox, hidden: [state], toolchains: [] }, step),
        cache,
        signal,
      });
      const [fact] = facts;
      assert.ok(fact !== undefined);
      const { verdict, doubt } = weighFact(fact, { criteria: ["task"] });
      return { weight: [fact.outcome, verdict, doubt], files: fact.changed_check_files };
    },
  };
}

for (const below of [".venv", "node_modules"]) {
  const program = below === "node_modules" ? ".bin/pytest" : "bin/pytest";

  test(
    `a program that a session put into ${below} of the person's folder proves nothing unless the person says so`,
    { skip },
    async (t) => {
      const s = scene(t, { below });
      await s.share();
      writeFileSync(s.at(program), evil);
      utimesSync(s.at(program), 1, 1);
      const { weight, files } = await s.verify("wrong\n");
      assert.deepEqual(weight, ["passed", "nothing", "person"]);
      assert.ok(files.includes(s.at(program)), files.join());
    },
  );

  test(`a program of ${below} that no session has changed is proof, also where sessions work`, { skip }, async (t) => {
    const s = scene(t, { below });
    assert.deepEqual((await s.verify("wrong\n")).weight, ["failed", "contradicts", "none"]);
    assert.deepEqual(await s.verify("right\n"), { weight: ["passed", "supports", "none"], files: [] });
    await s.share();
    assert.deepEqual(await s.verify("all right\n"), { weight: ["passed", "supports", "none"], files: [] });
  });
}

test("what a program loads counts like the program, however it was put there", { skip }, async (t) => {
  const ways: ((at: Scene["at"]) => void)[] = [
    (at) => writeFileSync(at("lib/runner.py"), "evil"),
    (at) => {
      writeFileSync(at("lib/other.py"), "evil");
      renameSync(at("lib/other.py"), at("lib/runner.py"));
    },
    (at) => {
      renameSync(at(""), at("../.old"));
      symlinkSync(".old", at("").replace(/\/$/, ""));
    },
  ];
  for (const way of ways) {
    const s = scene(t);
    await s.share();
    way(s.at);
    const [, verdict, doubt] = (await s.verify("right\n")).weight;
    // Through a link, the sandbox may not find it at all.
    assert.deepEqual([verdict, doubt], ["nothing", "person"], String(way));
  }
});

test("an environment that no session can write to is the person's, whenever it changes", { skip }, async (t) => {
  const s = scene(t, { below: `env-${crypto.randomUUID()}`, outside: true });
  await s.share();
  writeFileSync(s.at("lib/runner.py"), "newer");
  assert.deepEqual(await s.verify("right\n"), { weight: ["passed", "supports", "none"], files: [] });
});
