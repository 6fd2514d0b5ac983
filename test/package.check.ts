// The package as a user gets it: packed, installed into an empty folder, run there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "tutti-package-"));
const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", timeout: 300_000, stdio: ["ignore", "pipe", "inherit"] });

before(() => {
  run("npm", ["run", "build"], root);
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
  assert.match(said, /parse what a model replied/);
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

test("the installed library parses tool calls through its public entry points", () => {
  writeFileSync(
    join(folder, "use.mjs"),
    `import { parseToolCalls } from "tutti/protocol";
     import { route } from "tutti";
     console.log(parseToolCalls('\`\`\`tool\\n{"name":"ls"}\\n\`\`\`').calls[0].name, typeof route);`,
  );
  assert.equal(run(process.execPath, ["use.mjs"], folder).trim(), "ls function");
});

test("the package carries no tests, sources or development files", () => {
  const listing = readdirSync(join(folder, "node_modules", "tutti"), { recursive: true, encoding: "utf8" });
  assert.deepEqual(
    listing.filter((file) => file.endsWith(".test.js") || (file.endsWith(".ts") && !file.endsWith(".d.ts"))),
    [],
  );
});
