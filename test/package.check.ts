// The package as a user gets it: packed, installed into an empty folder, run there.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { modelServer } from "./support/model-server.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "tutti-package-"));
const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", timeout: 300_000, stdio: ["ignore", "pipe", "inherit"] });

before(() => {
  run("npm", ["pack", "--pack-destination", folder], root);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true, type: "module" }));
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  assert.ok(tarball, "npm pack left a tarball");
  run("npm", ["install", "--no-audit", "--no-fund", "--omit=dev", `./${tarball}`], folder);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("the installed command routes a handoff", () => {
  const handoff = join(root, "examples", "handoff.toon");
  const said = run(
    process.execPath,
    [join("node_modules", "tutti", "bin", "tutti.js"), "route", "--json", handoff],
    folder,
  );
  assert.equal(JSON.parse(said).model, "gpt-5.3-codex-spark");
});

test("the installed command is linked as a bin and shows its help", () => {
  const said = run(join("node_modules", ".bin", "tutti"), ["--help"], folder);
  assert.match(said, /parse the reply of a model/);
});

test("the installed command has the four model providers in its bundle", async (t) => {
  for (const kind of ["anthropic", "openai", "google", "openai-compatible"] as const) {
    const server = await modelServer(t, kind, [{ reply: { text: [`said over ${kind}`] } }]);
    const home = join(folder, `home-${kind}`);
    mkdirSync(join(home, ".tutti"), { recursive: true, mode: 0o700 });
    const here = { kind, base_url: `${server.origin}/v1`, key_env: "HERE_KEY" };
    const models = { default: "here/m", providers: { here }, prices: { "here/m": { input: 1, output: 1 } } };
    writeFileSync(join(home, ".tutti", "tutti.config.json"), JSON.stringify({ models }));
    const agents = join(folder, ".tutti", "agents");
    mkdirSync(agents, { recursive: true });
    writeFileSync(join(agents, "plain.md"), "---\ndescription: Speaks.\ntools: []\n---\nSpeak.\n");
    const bin = join("node_modules", "tutti", "bin", "tutti.js");
    const args = [bin, "agents", "run", "plain", "Go on"];
    const env = { ...process.env, HOME: home, HERE_KEY: "key-1234567890" };
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env, timeout: 60_000 });
    assert.equal(stdout.trim(), `said over ${kind}`);
  }
});

test("the installed command runs an invocation whose agent searches files in a thread of its own", () => {
  const call = (tool: string, args: object) => ({ call: [{ tool, args }] });
  const file = {
    invocation: {
      targets: [
        {
          agent: { type: "named", agent_id: "finder" },
          message: { role: "user", parts: [{ part_type: "text", data: "go" }] },
        },
      ],
    },
    agents: { finder: { instructions: "Find it.", tools: ["search"] } },
    roots: ["."],
    script: {
      rules: [
        { turn: 0, ...call("search", { pattern: "needle" }) },
        { turn: 1, say: "found" },
      ],
    },
  };
  writeFileSync(join(folder, "hay.txt"), "a needle in here\n");
  writeFileSync(join(folder, "find.json"), JSON.stringify(file));
  const tutti = [join("node_modules", "tutti", "bin", "tutti.js")];
  const said = run(process.execPath, [...tutti, "invoke", "find.json", "--json", "--state", "state"], folder);
  const { task, result } = JSON.parse(said);
  assert.equal(result.result.content, "found");
  assert.match(run(process.execPath, [...tutti, "export", task, "--state", "state"], folder), /hay\.txt/);
});

test("the installed daemon starts, works, knows the project's agents, and stops", async () => {
  const tutti = (...args: readonly string[]): string =>
    run(process.execPath, [join("node_modules", "tutti", "bin", "tutti.js"), ...args], folder);
  const state = ["--state", "served"];
  tutti("agents", "new", "reviewer");
  const { url } = JSON.parse(tutti("up", "--detach", "--json", "--port", "0", ...state));
  try {
    const key = readFileSync(join(folder, "served", "admin.key"), "utf8").trim();
    const get = async (path: string): Promise<unknown> => {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
      assert.equal(answer.status, 200, path);
      return answer.json();
    };
    cpSync(join(root, "examples"), join(folder, "examples"), { recursive: true });
    const said = JSON.parse(tutti("invoke", "--json", join("examples", "invocations", "single.json"), ...state));
    assert.equal(said.result.result.content, "hello.txt is written.");
    assert.partialDeepStrictEqual(await get(`/v1/tasks/${said.task}`), { status: "completed" });
    const project = `folder=${encodeURIComponent(folder)}`;
    assert.partialDeepStrictEqual(await get(`/v1/agents?${project}`), { agents: [{ name: "reviewer" }] });
    assert.match(tutti("agents", "list"), /reviewer/);
    const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
    const [script = ""] = /\/assets\/[^"]+\.js/.exec(page) ?? [];
    assert.equal((await fetch(url + script)).headers.get("cache-control"), "public, max-age=31536000, immutable");
    const board: unknown = await get("/v1/board");
    assert.partialDeepStrictEqual(board, { goals: [], behind: 0 });
    for (const path of ["/openapi.json", "/v1/runners", `/v1/models?${project}`, "/v1/operators"]) await get(path);
  } finally {
    assert.deepEqual(JSON.parse(tutti("down", "--json", ...state)), { stopped: true });
  }
});

test("the installed command loads a config that is code in a process of its own", () => {
  const project = join(folder, "project");
  mkdirSync(project, { mode: 0o755 });
  writeFileSync(
    join(project, "tutti.config.mjs"),
    `import { defineTool } from "tutti";
     import { z } from "zod";
     export default { tools: [defineTool({
       name: "shout", description: "Says it loudly.", input: z.object({}), effects: ["read"], run: () => "HA" })] };`,
  );
  const tutti = join(folder, "node_modules", "tutti", "bin", "tutti.js");
  const said = run(process.execPath, [tutti, "trust", "--state", join(folder, "trusting")], project);
  assert.match(said, /shout/);
});

test("a workflow in a config runs with the installed command, and errors keep their codes between the two", () => {
  const project = join(folder, "workflow-project");
  mkdirSync(project, { recursive: true });
  const config = `import { TuttiError, workflow } from "tutti";
    import { z } from "zod";
    export default { runners: [workflow("nightly", z.object({ day: z.string() }), async (durable, { day }) => {
      const thrown = await durable.step("own", () => { throw new TuttiError("refused", "mine"); }).catch((error) => error);
      return { day, code: thrown.code, own: thrown.details.code, is: thrown instanceof TuttiError };
    })] };`;
  writeFileSync(join(project, "tutti.config.mjs"), config);
  const message = { role: "user", parts: [{ part_type: "text", data: '{"day":"Monday"}' }] };
  const file = {
    invocation: { targets: [{ agent: { type: "named", agent_id: "night" }, message }] },
    agents: { night: { instructions: "Nights.", runner: { kind: "nightly" } } },
  };
  writeFileSync(join(project, "night.json"), JSON.stringify(file));
  const bin = join(folder, "node_modules", "tutti", "bin", "tutti.js");
  const state = ["--state", join(folder, "workflow-state")];
  run(process.execPath, [bin, "trust", ...state], project);
  const said = run(process.execPath, [bin, "invoke", "night.json", "--json", ...state], project);
  assert.deepEqual(JSON.parse(said).result.result.content, {
    day: "Monday",
    code: "step_failed",
    own: "refused",
    is: true,
  });
});

test("the installed library parses tool calls through its public entry points", () => {
  writeFileSync(
    join(folder, "use.mjs"),
    `import { parseToolCalls } from "tutti/protocol";
     import { httpClient } from "tutti/client";
     import { defineTool } from "tutti";
     console.log(parseToolCalls('\`\`\`tool\\n{"name":"ls"}\\n\`\`\`').calls[0].name, typeof defineTool, typeof httpClient);`,
  );
  assert.equal(run(process.execPath, ["use.mjs"], folder).trim(), "ls function function");
});

test("the line of the README installs from a git repository what `npm pack` makes in a clone", () => {
  const away = mkdtempSync(join(tmpdir(), "tutti-from-git-"));
  try {
    const [, line = ""] = /^(npm pack git\+https:[^#\n]*)/m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
    assert.match(line, / && npm install -g /);
    // Of the commit that is checked out. npm builds it in its cache, with all development dependencies.
    run("git", ["clone", "--quiet", root, "repository"], away);
    const here = line
      .replace(/git\+https:\S+/, `git+file://${join(away, "repository")}`)
      .replace("install -g", `install -g --prefix "${join(away, "prefix")}"`);
    execFileSync("sh", ["-c", here], { cwd: away, timeout: 1_800_000, stdio: ["ignore", "ignore", "inherit"] });
    assert.match(run(join(away, "prefix", "bin", "tutti"), ["--version"], away), /^\d+\.\d+\.\d+$/m);
    const filesIn = (at: string): string[] =>
      readdirSync(at, { recursive: true, encoding: "utf8" })
        .filter((file) => !file.startsWith("node_modules"))
        .toSorted();
    const installed = filesIn(join(away, "prefix", "lib", "node_modules", "tutti"));
    const named = (files: readonly string[]): string[] => files.filter((file) => !file.startsWith(join("dist", "web")));
    assert.deepEqual(named(installed), named(filesIn(join(folder, "node_modules", "tutti"))));
    assert.ok(installed.includes(join("dist", "web", "index.html")));
  } finally {
    rmSync(away, { recursive: true, force: true });
  }
});

test("in a clone, preparing builds nothing", () => {
  const clone = mkdtempSync(join(tmpdir(), "tutti-clone-"));
  try {
    run("git", ["clone", "--quiet", root, "."], clone);
    run(process.execPath, [join("scripts", "prepare.js")], clone);
    assert.deepEqual([existsSync(join(clone, "dist")), existsSync(join(clone, "node_modules"))], [false, false]);
  } finally {
    rmSync(clone, { recursive: true, force: true });
  }
});

test("the package carries no tests, sources or development files", () => {
  const listing = readdirSync(join(folder, "node_modules", "tutti"), { recursive: true, encoding: "utf8" });
  assert.ok(listing.includes(join("dist", "node", "index.js")), "the package was listed");
  assert.deepEqual(
    listing.filter((file) => file.endsWith(".test.js") || (file.endsWith(".ts") && !file.endsWith(".d.ts"))),
    [],
  );
});
