import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test, type TestContext } from "node:test";

import { builtinTools } from "../../src/agent/agent-environment.ts";
import { runTool } from "../../src/agent/tools/run.ts";
import { write } from "../../src/agent/tools/write.ts";
import { ApprovalPolicy } from "../../src/protocol/invocation/approval-policy.ts";
import { sandboxCommands } from "../../src/runner/shared/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { world } from "../support/agent-kit.ts";
import { led, leadOf, person } from "../support/lead-and-worker.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { failsWith, tryTool, workspace } from "../support/try-tool.ts";
import { until } from "../support/wait-until.ts";

/** The most generous policy that can be written, as a repository or an agent would write it. */
const generous = ApprovalPolicy.parse({
  read: "free",
  write: "free",
  execute: "free",
  network: "free",
  tools: { write: "free", edit: "free", write_file: "free", run: "free" },
});

async function start(t: TestContext, calls: readonly object[], prepare: (root: string) => void = () => undefined) {
  const w = await world(t, {
    environment: { tools: builtinTools, approvals: [{ from: "project", rules: generous } as const] },
  });
  const root = join(tempFolder(t), "work");
  mkdirSync(root);
  prepare(root);
  const task = await w.start({ ...led({ call: calls }), roots: [root] });
  return { w, root, task };
}

const spellings = [
  ["tutti.config.mjs", "tutti.config.mjs"],
  ["Tutti.Config.JSON", "Tutti.Config.JSON"],
  [".tutti/agents/a.md", ".tutti/agents/a.md"],
  [".claude/settings.json", ".claude/settings.json"],
  ["sub/../.git/hooks/pre-commit", ".git/hooks/pre-commit"],
  ["sub/.GIT/config", "sub/.GIT/config"],
  [".g\u200Dit/config", ".g\u200Dit/config"],
  [".git./config", ".git./config"],
  ["plain/.git", "plain/.git"],
  ["GIT~1/config", "GIT~1/config"],
  [".mcp.json", ".mcp.json"],
  ["deep/.vscode/tasks.json", "deep/.vscode/tasks.json"],
  [".VSCode/Settings.json", ".VSCode/Settings.json"],
  [".idea/workspace.xml", ".idea/workspace.xml"],
  [".husky/pre-commit", ".husky/pre-commit"],
  [".envrc", ".envrc"],
  ["deep/.vscode/mcp.json", "deep/.vscode/mcp.json"],
  ["Team.code-workspace", "Team.code-workspace"],
  [".zed/tasks.json", ".zed/tasks.json"],
  [".fleet/run.json", ".fleet/run.json"],
  [".cursor/mcp.json", ".cursor/mcp.json"],
  [".codex/config.toml", ".codex/config.toml"],
  [".gemini/settings.json", ".gemini/settings.json"],
  ["sub/.nvim.lua", "sub/.nvim.lua"],
  [".exrc", ".exrc"],
  [".opencode/plugin/x.js", ".opencode/plugin/x.js"],
  ["opencode.json", "opencode.json"],
  ["sub/.vimrc", "sub/.vimrc"],
  [".pre-commit-config.yaml", ".pre-commit-config.yaml"],
  ["lefthook.yml", "lefthook.yml"],
  ["sub/.dir-locals.el", "sub/.dir-locals.el"],
  [".aider.conf.yml", ".aider.conf.yml"],
  ["crush.json", "crush.json"],
  [".amazonq/cli-agents/a.json", ".amazonq/cli-agents/a.json"],
  [".devcontainer/devcontainer.json", ".devcontainer/devcontainer.json"],
  ["Mise.toml", "Mise.toml"],
  [".config/mise/config.toml", ".config/mise/config.toml"],
  // What links with protected names lead to, also when it does not exist yet.
  ["tools/hooks/pre-push", "tools/hooks/pre-push"],
  ["editor/tasks.json", "editor/tasks.json"],
  ["later/rc", "later/rc"],
  ["alias/hooks/post-merge", ".git/hooks/post-merge"],
  ["bare/hooks/post-update", "bare/hooks/post-update"],
  ["almost/refs/heads/x", "almost/refs/heads/x"],
] as const;

test("a protected file, however it is spelt, is asked about by its exact path and stays without a yes", async (t) => {
  const prepare = (root: string): void => {
    for (const folder of [".git", "bare/objects", "bare/refs", "almost/objects"]) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const head of ["bare/HEAD", "almost/HEAD"]) writeFileSync(join(root, head), "ref: refs/heads/main\n");
    symlinkSync(".git", join(root, "alias"));
    for (const folder of ["tools/hooks", "editor"]) mkdirSync(join(root, folder), { recursive: true });
    symlinkSync("tools/hooks", join(root, ".githooks"));
    symlinkSync("editor", join(root, ".vscode"));
    symlinkSync("later/rc", join(root, ".nvimrc"));
  };
  const calls = spellings.map(([path]) => ({ tool: "write", args: { path, content: "#!/bin/sh\nevil\n" } }));
  const { w, root, task } = await start(t, calls, prepare);
  await until(() => (w.waits(task).length === spellings.length ? true : undefined));
  const asked = w.waits(task);
  for (const [spelt, real] of spellings) {
    const path = join(root, real);
    const ask = asked.find(({ body }) =>
      body.ask?.question.includes(`\nfile: ${path.replaceAll("\u200D", "\\u{200d}")} (`),
    );
    assert.ok(ask !== undefined, spelt);
    assert.match(ask.body.ask?.question ?? "", /changes a protected file[^]*protected: [^]*\+evil/);
  }
  for (const { id } of asked) await w.engine.deliver(id, { kind: "approval", approved: false }, person);
  assert.equal((await w.engine.result(task)).status, "completed");
  for (const [spelt, real] of spellings) {
    assert.ok(!existsSync(join(root, real)), spelt);
  }
});

test("an approved write of a protected file happens, and edits are asked about too", async (t) => {
  const calls = [{ tool: "edit", args: { path: ".envrc", old: "one", new: "two" } }];
  const { w, root, task } = await start(t, calls, (folder) => writeFileSync(join(folder, ".envrc"), "export one\n"));
  const ask = await until(() => w.waits(task)[0]);
  assert.match(ask.body.ask?.question ?? "", /-export one\n\+export two/);
  assert.deepEqual((ask.body.ask as { details?: { protected?: unknown } } | undefined)?.details?.protected, [
    join(root, ".envrc"),
  ]);
  await w.engine.deliver(ask.id, { kind: "approval", approved: true }, person);
  assert.equal((await w.engine.result(task)).status, "completed");
  assert.equal(readFileSync(join(root, ".envrc"), "utf8"), "export two\n");
});

test("ordinary files, package.json and other editor files among them, are written without a question", async (t) => {
  const paths = ["a.txt", "package.json", ".vscode/launch.json", ".gitignore", ".github/workflows/ci.yml", "HEAD"];
  const { w, root, task } = await start(
    t,
    paths.map((path) => ({ tool: "write", args: { path, content: "x" } })),
  );
  assert.equal((await w.engine.result(task)).status, "completed");
  for (const path of paths) assert.equal(readFileSync(join(root, path), "utf8"), "x", path);
  assert.deepEqual(w.waits(task), []);
  assert.doesNotMatch(JSON.stringify(w.toolResults(leadOf(w, task))), /refused/);
});

test("a path that becomes protected after it was looked at is refused when the call runs", async (t) => {
  const { root } = workspace(t, { ".git/hooks/x": "" });
  symlinkSync(".git", join(root, "innocent"));
  const look = { protected: [], text: "" };
  const ready = write.prepare({ path: "innocent/hooks/pre-commit", content: "x" });
  assert.ok(ready.ok);
  const step = { signal: AbortSignal.timeout(240_000), key: "k", noted: undefined, note: async () => undefined };
  const context = {
    step: { ...step, live: () => undefined, now: () => 0 },
    rights: { tools: "*" as const, roots: [root] },
  };
  await assert.rejects(
    Promise.resolve(ready.run({ ...context, offLimits: [], look })),
    failsWith("refused", /\.git.*a person must approve/),
  );
});

const status = await probeSandbox();
const skip = status.confined ? false : status.reason;
const aside = mkdtempSync(join(tmpdir(), "tutti-aside-"));
after(() => rmSync(aside, { recursive: true }));
const confined = runTool(sandboxCommands(status, { aside }));

test(
  "a confined program cannot change protected files that exist, nor move them out of the way",
  { skip },
  async (t) => {
    const kept = {
      ".git/config": "[core]\n",
      ".git/hooks/pre-commit": "old\n",
      "tutti.config.json": "{}\n",
      ".tutti/agents/a.md": "a\n",
      ".claude/settings.json": "{}\n",
      ".mcp.json": "{}\n",
      ".envrc": "x\n",
      ".vscode/tasks.json": "{}\n",
      "packages/one/.git/config": "[core]\n",
      "bare/HEAD": "ref: x\n",
      "bare/objects/x": "",
      "bare/refs/x": "",
    };
    const { root } = workspace(t, kept);
    const script = Object.keys(kept)
      .flatMap((path) => [
        `echo evil > ${path}`,
        `rm -rf ${path}`,
        `mv ${path} ${path}.old`,
        `ln -f ${path} hard && echo evil >> hard`,
        `mv ${dirname(path) === "." ? path : path.split("/")[0]} moved && mkdir -p ${dirname(path)} && echo evil > ${path}; mv moved/* . ; `,
      ])
      .map((line) => `(${line}) 2>/dev/null`)
      .join("\n");
    await tryTool(confined, { shell: `${script}\necho fine > ordinary; echo '{}' > .vscode/launch.json` }, [root]);
    for (const [path, content] of Object.entries(kept)) {
      assert.equal(readFileSync(join(root, path), "utf8"), content, path);
    }
    assert.equal(readFileSync(join(root, "ordinary"), "utf8"), "fine\n");
    assert.equal(readFileSync(join(root, ".vscode/launch.json"), "utf8"), "{}\n");
  },
);

test("a program that asks to change protected files may do so only after a person agreed", { skip }, async (t) => {
  const w = await world(t, {
    environment: { tools: [...builtinTools, confined], approvals: [{ from: "project", rules: generous } as const] },
  });
  const { root } = workspace(t, { ".git/config": "old\n" });
  const call = [{ tool: "run", args: { shell: "echo new > .git/config", protected: true } }];
  const task = await w.start({ ...led({ call }), roots: [root] });
  const ask = await until(() => w.waits(task)[0]);
  const question = ask.body.ask?.question ?? "";
  assert.ok(question.includes(`  | ${join(root, ".git")}`), question);
  assert.equal(readFileSync(join(root, ".git/config"), "utf8"), "old\n");
  await w.engine.deliver(ask.id, { kind: "approval", approved: true }, person);
  assert.equal((await w.engine.result(task)).status, "completed");
  assert.equal(readFileSync(join(root, ".git/config"), "utf8"), "new\n");
});
