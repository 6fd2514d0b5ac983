// Tutti was started with a PATH and with variables that lead into a repository. What it starts for itself has none of them.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { commandTarget } from "../../src/daemon/notify/command-target.ts";
import { desktopTarget } from "../../src/daemon/notify/desktop-target.ts";
import { checkCodingAgents } from "../../src/daemon/project/check-coding-agents.ts";
import { runGh } from "../../src/daemon/project/build-assignment.ts";
import { runPersonsProgram } from "../../src/daemon/state/run-persons-program.ts";
import { runHere } from "../../src/cli/run-program-here.ts";
import { startServer } from "../../src/mcp/start-server.ts";
import { profileOf, Profiles } from "../../src/runner/acp/profile.ts";
import { prepareLaunch } from "../../src/runner/acp/session-launch.ts";
import { prepareProgram } from "../../src/runner/shared/confined-program.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { systemClock } from "../../src/engine/clock.ts";
import { openGit } from "../../src/workspace/own-git.ts";
import { checkKit, skipUnconfined } from "../support/check-kit.ts";
import { testRepository, type TestRepository } from "../support/git-kit.ts";
import { tempFolder } from "../support/temp-folder.ts";

const variables = {
  LD_DEBUG: "unused",
  DYLD_INSERT_LIBRARIES: "/none.dylib",
  NODE_OPTIONS: "--no-deprecation",
  GIT_SSH_COMMAND: "evil",
  GIT_EDITOR: "evil",
  BASH_ENV: "/none",
  ENV: "/none",
  PS4: "$(id)",
  PYTHONPATH: "/none",
  PERL5LIB: "/none",
  RUBYLIB: "/none",
};

const unconfined = { confined: false, reason: "a test", advice: "" } as const;

interface Scene {
  readonly repository: TestRepository;
  /** In the PATH: programs of this folder note their environment and are then the ones that they stand for. */
  readonly noting: string;
  readonly program: (name: string) => string;
}

function scene(t: TestContext): Scene {
  const repository = testRepository(t);
  const noting = tempFolder(t);
  const before = { ...process.env };
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  });
  const evil = join(repository.folder, "bin");
  mkdirSync(evil);
  for (const name of ["git", "cp", "bwrap", "agent", "env"]) {
    writeFileSync(join(evil, name), `#!/bin/sh\necho ${name} >> ${join(noting, "evil")}\n`);
    chmodSync(join(evil, name), 0o755);
    writeFileSync(join(repository.folder, name), readFileSync(join(evil, name)), { mode: 0o755 });
  }
  const real = process.env["PATH"] ?? "";
  const program = (name: string): string => {
    const path = join(noting, name);
    writeFileSync(path, `#!/bin/sh\nenv >> ${path}.env\nPATH=${real}\nexec ${name} "$@"\n`, { mode: 0o755 });
    return path;
  };
  Object.assign(process.env, variables, { PATH: `:.:bin:./bin:${noting}:${real}` });
  return { repository, noting, program };
}

function assertClean({ noting }: Scene, name: string): void {
  assert.equal(existsSync(join(noting, "evil")), false, "a program of the repository ran");
  const seen = readFileSync(join(noting, `${name}.env`), "utf8");
  for (const each of Object.keys(variables))
    assert.doesNotMatch(seen, new RegExp(`^${each}=`, "m"), `${name}: ${each}`);
  assert.match(seen, /^PATH=\//m);
  assert.doesNotMatch(seen, /^PATH=(?:.*:)?[^/:]/m);
}

test("Tutti's own git is the machine's, with none of the variables", async (t) => {
  const s = scene(t);
  s.program("git");
  const git = await openGit(join(s.repository.folder, ".git"));
  await git.text(["status", "--porcelain"], { workTree: s.repository.folder });
  assertClean(s, "git");
});

test("what confines programs is tried with none of the variables", { skip: skipUnconfined }, async (t) => {
  const s = scene(t);
  if (process.platform === "linux") s.program("bwrap");
  const status = await probeSandbox();
  assert.equal(status.confined, true);
  if (process.platform === "linux") assertClean(s, "bwrap");
});

test(
  "the copy of a checkout that was set up is made with none of the variables",
  { skip: skipUnconfined },
  async (t) => {
    const s = scene(t);
    s.program("cp");
    const { check } = checkKit(t, s.repository);
    const [fact] = await check(["true"], { setup: [{ command: ["/bin/true"], network: false }] });
    assert.equal(fact?.outcome, "passed", JSON.stringify(fact));
    assertClean(s, "cp");
  },
);

test(
  "a check runs with none of the variables, and so does what is prepared for setup, hooks and terminals",
  { skip: skipUnconfined },
  async (t) => {
    const s = scene(t);
    const { check } = checkKit(t, s.repository);
    const names = Object.keys(variables).join("|");
    const [fact] = await check([{ run: ["/bin/sh", "-c", `! /usr/bin/env | grep -E '^(${names})='`] }]);
    assert.equal(fact?.outcome, "passed", JSON.stringify(fact));
    const home = tempFolder(t);
    const { folder } = s.repository;
    const place = { folder: { cwd: folder, roots: [folder] }, home, hidden: [], toolchains: [] };
    const { argv, env } = await prepareProgram({ ...place, sandbox: unconfined }, ["env"], { cwd: folder });
    assert.ok(!argv[0].startsWith(folder), argv[0]);
    for (const name of Object.keys(variables)) assert.equal(env[name], undefined, name);
    assert.equal(existsSync(join(s.noting, "evil")), false);
  },
);

test("a coding agent is asked for its version with none of the variables, and not in the folder of a project", async (t) => {
  const s = scene(t);
  const agent = join(s.noting, "agent");
  writeFileSync(agent, `#!/bin/sh\nenv >> ${agent}.env\npwd\n`, { mode: 0o755 });
  const finding = await checkCodingAgents(
    Profiles.parse({ agent: { command: [agent], version: [agent, "--version"] } }),
  );
  assert.equal(finding.said, "agent /");
  assertClean(s, "agent");
});

/** How an activated environment of Python, npm and direnv make a folder of a project the first of the PATH. */
const first: readonly [how: string, folder: string, also?: string][] = [
  ["an activated environment of Python", ".venv/bin", ".venv/pyvenv.cfg"],
  ["npm", "node_modules/.bin"],
  ["direnv", "tools/bin"],
];

for (const [how, below, also] of first) {
  test(`what works on a project that ${how} put into the PATH brings no program that Tutti starts for itself or for the person`, async (t) => {
    const s = scene(t);
    // Only what direnv added is known by the checkout around it.
    const project = below === "tools/bin" ? s.repository.folder : tempFolder(t);
    const evil = join(project, below);
    mkdirSync(evil, { recursive: true });
    if (also !== undefined) writeFileSync(join(project, also), "");
    const ran = join(s.noting, "evil");
    for (const name of ["git", "cp", "ps", "bwrap", "gh", "agent", "xdg-open", "notify-send"]) {
      writeFileSync(join(evil, name), `#!/bin/sh\necho ${name} >> ${ran}\n`, { mode: 0o755 });
    }
    // A project of which nobody knows that it works with this folder.
    const other = testRepository(t);
    process.env["PATH"] = `${evil}:${process.env["PATH"] ?? ""}`;
    const git = await openGit(join(other.folder, ".git"));
    await git.text(["status", "--porcelain"], { workTree: other.folder });
    await probeSandbox();
    const signal = AbortSignal.timeout(240_000);
    await runGh(["pr", "view"], signal);
    const argv = ["git", "remote"] as const;
    await runPersonsProgram({ argv: [...argv], cwd: other.folder, timeoutMs: 240_000 }, signal);
    await runHere(["git", "--version"], other.folder);
    await checkCodingAgents(Profiles.parse({ agent: { command: ["agent"], version: ["agent", "--version"] } }));
    assert.equal(existsSync(ran), false, existsSync(ran) ? readFileSync(ran, "utf8") : "");
  });

  test(`what works on a project that ${how} put into the PATH takes the place of no coding agent and of no server, which have secrets of the person`, async (t) => {
    const s = scene(t);
    const project = below === "tools/bin" ? s.repository.folder : tempFolder(t);
    const evil = join(project, below);
    mkdirSync(evil, { recursive: true });
    if (also !== undefined) writeFileSync(join(project, also), "");
    for (const name of ["agent", "server", "env"]) writeFileSync(join(evil, name), "#!/bin/sh\n", { mode: 0o755 });
    const real = process.env["PATH"] ?? "";
    process.env["PATH"] = `${evil}:${real}`;
    const launch = {
      name: "agent",
      profile: profileOf(Profiles.parse({ agent: { command: ["agent"] } }), "agent"),
      model: undefined,
      folder: { cwd: project, roots: [project] },
      home: tempFolder(t),
      hidden: [],
      toolchains: [s.noting],
    };
    const status = await probeSandbox();
    for (const sandbox of [unconfined, ...(status.confined ? [status] : [])]) {
      await assert.rejects(prepareLaunch({ ...launch, sandbox }), {
        code: "not_found",
        message: `${join(evil, "agent")} is in a folder of a project, so the agent agent is not started from it with your login; name its full path as the command in acp.profiles if you trust it`,
      });
      const agent = join(s.noting, "agent");
      writeFileSync(agent, "#!/bin/sh\n", { mode: 0o755 });
      const { argv, env } = await prepareLaunch({ ...launch, sandbox });
      rmSync(agent);
      assert.equal(argv[0], agent);
      // It starts `node`, `git` and the like by their names, with the login in its environment.
      const found = (env["PATH"] ?? "").split(":").find((folder) => existsSync(join(folder, "env")));
      assert.ok(found !== undefined && !found.startsWith(project), env["PATH"]);
      const entry = { type: "stdio", command: "server", args: [], env: {}, network: true, write: true } as const;
      const state = tempFolder(t);
      const surroundings = { state, sandbox, toolchains: [s.noting], name: "it", hash: "0".repeat(40) };
      const start = { ...surroundings, roots: [project], entry: { ...entry, args: [], timeout_ms: 5_000 } };
      await assert.rejects(startServer(start), { code: "not_found" });
    }
  });
}

test("notices are shown by no program of the repository, and their command is none either", async (t) => {
  const { repository, noting } = scene(t);
  const folder = join(repository.folder, "node_modules", ".bin");
  mkdirSync(folder, { recursive: true });
  for (const name of ["notify-send", "osascript", "tell-me"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >> ${join(noting, "evil")}\n`, { mode: 0o755 });
  }
  const env = { ...process.env, PATH: `${folder}:/none`, DISPLAY: ":99" };
  const place = { env, clock: systemClock, log: { info() {} } };
  const notice = {
    kind: "finished",
    task: "tsk_1",
    root: "tsk_1",
    agent: "a",
    title: "t",
    text: "x",
    id: "ntc_1",
    at: 1,
  } as const;
  assert.equal(desktopTarget(place, { always: true }), undefined);
  const sent = await commandTarget(["tell-me"], place).send(notice, "{}", AbortSignal.timeout(60_000));
  assert.equal(sent.outcome, "failed");
  assert.equal(existsSync(join(noting, "evil")), false, "a program of the repository ran");
});
