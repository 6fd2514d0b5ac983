import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { World, type WorldOptions } from "../../../test/support/agent-kit.ts";
import { personsThings, testRepository, type TestRepository } from "../../../test/support/git-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";
import { builtinTools } from "../../agent/agent-environment.ts";
import { runTool } from "../../agent/tools/run.ts";
import type { TaskEvent } from "../../protocol/task/event.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { openWorkspaces, type WorkspaceStore } from "../../workspace/index.ts";
import { confineGit } from "../shared/sandbox/confine-git.ts";
import { sandboxCommands } from "../shared/sandbox/sandbox-commands.ts";
import { probeSandbox } from "../shared/sandbox/sandbox-status.ts";

const sandbox = await probeSandbox();
const skip = sandbox.confined ? false : sandbox.reason;
const free = [{ from: "user", rules: { write: "free", execute: "free" } }] as const;

interface Place {
  readonly repository: TestRepository;
  readonly store: WorkspaceStore;
  /** Opens the same state folder again. */
  readonly open: () => Promise<World>;
}

function place(t: TestContext, files?: Readonly<Record<string, string>>, setup: readonly string[] = []): Place {
  const repository = testRepository(t, files);
  const state = tempFolder(t);
  const store = openWorkspaces(join(state, "state"));
  const commands = sandboxCommands(sandbox, { aside: join(state, "aside") });
  const options: WorldOptions = {
    folder: state,
    environment: { tools: [...builtinTools, runTool(commands)], approvals: free, offLimits: [join(state, "state")] },
    local: {
      workspaces: {
        store,
        commits: "tutti",
        copy: [],
        setup: setup.map((command) => ({ command: ["/bin/sh", "-c", command], network: false })),
        confine: confineGit(sandbox, []),
      },
      setUp: { sandbox, toolchains: [], homes: join(state, "homes") },
    },
  };
  const open = async (): Promise<World> => {
    const world = new World(state, options);
    await world.engine.recover();
    return world;
  };
  return { repository, store, open };
}

function fileOf(folder: string, rules: readonly unknown[], workspace: unknown = {}) {
  return {
    invocation: single(named("coder", "write it\nsecond line"), {
      executor: { kind: "force", type: "local", workspace },
    }),
    agents: { coder: { instructions: "Code." }, helper: { instructions: "Help." } },
    script: { rules },
    roots: [folder],
  };
}

type Saved = Extract<TaskEvent, { type: "session.saved" }>["data"];

function savedIn(world: World, root: string): Saved[] {
  const told = world.tree(root).flatMap(({ id }) => world.events(id));
  return told.flatMap(({ type, body }) => (type === "session.saved" ? [JSON.parse(body ?? "")] : []));
}

test(
  "an agent works in a worktree of its own, and its work is a branch: the checkout is untouched",
  { skip },
  async (t) => {
    const { repository, open } = place(t, { "a.txt": "a\n", "sub/b.txt": "b\n" }, ["echo ready > ready.txt"]);
    const before = personsThings(repository);
    const world = await open();
    t.after(() => world.close());
    const root = await world.start(
      fileOf(join(repository.folder, "sub"), [
        { agent: "coder", turn: 0, call: [{ tool: "write", args: { path: "one.txt", content: "one\n" } }] },
        {
          agent: "coder",
          turn: 1,
          call: [
            { tool: "run", args: { shell: "cat ready.txt one.txt > two.txt; git log --oneline | wc -l" } },
            { tool: "read", args: { path: join(repository.folder, "a.txt") } },
          ],
        },
        { agent: "coder", turn: 2, delegate: [{ agent: "helper", prompt: "help" }] },
        { agent: "coder", turn: 3, final: "done" },
        { agent: "helper", turn: 0, call: [{ tool: "write", args: { path: "three.txt", content: "three\n" } }] },
        { agent: "helper", turn: 1, final: "helped" },
      ]),
    );
    const result = await world.engine.result(root);
    assert.equal(result.status, "completed", JSON.stringify(result.content));
    const [saved, ...more] = savedIn(world, root);
    assert.ok(saved !== undefined);
    assert.deepEqual(more, [], "an agent that is called works in the workspace of its caller");
    assert.deepEqual([saved.mode, saved.commits, saved.files, saved.uncommitted], ["worktree", 1, 4, 0]);
    const branch = saved.branch ?? "";
    assert.equal(repository.git("show", `${branch}:sub/two.txt`), "ready\none");
    assert.equal(repository.git("show", `${branch}:sub/three.txt`), "three");
    assert.equal(repository.git("log", "-1", "--format=%s", branch), "coder: write it");
    assert.deepEqual(personsThings(repository), before, "only the new branch is new");
    const coder = world.tree(root).find(({ agent }) => agent === "coder");
    const [, ran, read] = world.toolResults(coder?.id ?? "");
    assert.match(JSON.stringify(ran), /"exit_code":0/);
    assert.match(JSON.stringify(read), /outside the folders this task may touch/);
  },
);

test("a restart goes on in the same workspace", { skip }, async (t) => {
  const { repository, store, open } = place(t);
  const first = await open();
  const root = await first.start(
    fileOf(repository.folder, [
      { agent: "coder", turn: 0, call: [{ tool: "write", args: { path: "one.txt", content: "one\n" } }] },
      { agent: "coder", turn: 1, ask: { question: "Go on?" } },
      { agent: "coder", turn: 2, call: [{ tool: "write", args: { path: "two.txt", content: "two\n" } }] },
      { agent: "coder", turn: 3, final: "done" },
    ]),
  );
  await until(() => first.waits(root).length === 1);
  await first.close();
  const second = await open();
  t.after(() => second.close());
  const [wait] = second.waits(root);
  await second.engine.deliver(wait?.id ?? "", { kind: "question", value: "yes" }, { kind: "person", name: "ana" });
  assert.equal((await second.engine.result(root)).status, "completed");
  const [saved, ...more] = savedIn(second, root);
  assert.ok(saved !== undefined);
  assert.deepEqual(more, []);
  assert.equal(saved.files, 2);
  assert.equal(readFileSync(join(store.root, saved.workspace, "one.txt"), "utf8"), "one\n");
  assert.ok(!existsSync(join(repository.folder, "one.txt")));
});

test("an agent in a workspace cannot call one that would work in the person's own folder", { skip }, async (t) => {
  const { repository, open } = place(t);
  const world = await open();
  t.after(() => world.close());
  const file = fileOf(repository.folder, [
    { agent: "coder", turn: 0, delegate: [{ agent: "helper", prompt: "help", mode: "background" }] },
    { agent: "coder", turn: 1, final: "{{last}}" },
    { agent: "helper", final: "helped" },
  ]);
  const result = await world.invoke(file);
  assert.match(JSON.stringify(result), /helper cannot be called from a workspace/);
});
