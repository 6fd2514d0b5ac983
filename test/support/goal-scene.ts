// A repository and commands for tests that hand a goal to the manager on the command line. A script plays all models.

import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";

import { GoalReport } from "../../src/protocol/task/goal-report.ts";
import { agentFile } from "./acp-kit.ts";
import { bench, type Bench } from "./cli-process.ts";
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
  /** The config in the home folder of the person. */
  readonly userConfig?: object;
}

export function goalScene(t: TestContext, { rules, files, gh, userConfig }: GoalSceneOptions): GoalScene {
  const repository = testRepository(t, files);
  const b = benchIn(t, {
    ...(gh === undefined ? {} : { PATH: `${withGh(t, gh)}${delimiter}${process.env["PATH"] ?? ""}` }),
    ...(userConfig === undefined ? {} : { HOME: homeWith(t, userConfig) }),
  });
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
function benchIn(t: TestContext, changed: Readonly<Record<string, string>>): Bench {
  const before = Object.fromEntries(Object.keys(changed).map((name) => [name, process.env[name]]));
  Object.assign(process.env, changed);
  try {
    return bench(t);
  } finally {
    Object.assign(process.env, before);
  }
}

function withGh(t: TestContext, script: string): string {
  const bin = tempFolder(t, "tutti-gh-");
  writeFileSync(join(bin, "gh"), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
  return bin;
}

function homeWith(t: TestContext, config: object): string {
  const home = tempFolder(t, "tutti-home-");
  mkdirSync(join(home, ".tutti"), { mode: 0o700 });
  writeFileSync(join(home, ".tutti", "tutti.config.json"), JSON.stringify(config), { mode: 0o600 });
  return home;
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

/** The scripted agent does the tasks, as the lists in their prompts say. Its own notes go to the `/tmp` of its sandbox. */
export function agentScene(
  t: TestContext,
  tasks: readonly { readonly id: string; readonly does: readonly object[] }[],
  files?: Readonly<Record<string, string>>,
): GoalScene {
  const profile = { command: [process.execPath, agentFile, "/tmp", "{}"], login: "none", metered: true };
  return goalScene(t, {
    ...(files === undefined ? {} : { files }),
    rules: [delegating(tasks.map(({ id, does }) => ({ id, prompt: JSON.stringify(does) })))],
    userConfig: { acp: { profiles: { scripted: profile }, toolchains: [join(agentFile, "..")] } },
  });
}

/** An edit as a coding agent tells of it, and does it. */
export function editing(path: string, text: string): object[] {
  const told = {
    sessionUpdate: "tool_call",
    toolCallId: path,
    title: `Edit ${path}`,
    kind: "edit",
    status: "completed",
  };
  return [{ update: told }, { write: path, text }];
}
