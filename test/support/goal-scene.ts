// A repository and commands for tests that hand a goal to the manager on the command line. A script plays all models.

import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";

import { GoalReport } from "../../src/protocol/task/goal-report.ts";
import { bench, type Bench, type Ended, type Started } from "./cli-process.ts";
import { testRepository, type TestRepository } from "./git-kit.ts";
import { tempFolder } from "./temp-folder.ts";

export interface GoalScene extends Bench {
  readonly repository: TestRepository;
  /** The words of `tutti run` for this repository and script, with more options. */
  goal(text: string, ...more: readonly string[]): string[];
  /** The report of the newest goal. */
  report(): GoalReport;
}

export interface GoalSceneOptions {
  /** Rules of the rehearsal. */
  readonly rules: readonly object[];
  readonly files?: Readonly<Record<string, string>>;
  /** A shell script that is the `gh` of every command and of the daemon. */
  readonly gh?: string;
}

export function goalScene(t: TestContext, { rules, files, gh }: GoalSceneOptions): GoalScene {
  const repository = testRepository(t, files);
  const b = gh === undefined ? bench(t) : withGh(t, gh);
  b.file("script.json", { rules });
  return {
    ...b,
    repository,
    goal: (text, ...more) => [
      "run",
      text,
      "--cwd",
      repository.folder,
      "--script",
      join(b.folder, "script.json"),
      ...more,
    ],
    report: () => GoalReport.parse(JSON.parse(b.run("report", "last", "--json").out)),
  };
}

/** The commands of a bench get the environment that it is made with. */
function withGh(t: TestContext, script: string): Bench {
  const { PATH } = process.env;
  const bin = tempFolder(t, "tutti-gh-");
  writeFileSync(join(bin, "gh"), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  process.env["PATH"] = `${bin}${delimiter}${PATH ?? ""}`;
  try {
    return bench(t);
  } finally {
    process.env["PATH"] = PATH;
  }
}

/** A reply of the manager that delegates these tasks. */
export function delegating(tasks: readonly object[], more: object = {}): object {
  const complete = tasks.map((task) => ({ workdir: ".", kind: "code_change", prompt: "do it", conf: 0.95, ...task }));
  return { agent: "manager", raw: JSON.stringify({ action: "delegate", tasks: complete, ...more }) };
}

/** What a session does that is told this: it writes a file, and says so. */
export function writing(last: string, path: string, content: string): object[] {
  return [{ agent: "worker", last, turn: 0, call: [{ tool: "write", args: { path, content } }] }];
}

export type { Ended, Started };
