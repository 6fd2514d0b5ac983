// The commands for a project (agents, models and doctor) as real processes.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { asOrdinaryUser, giveToOrdinaryUser } from "../../../test/support/ordinary-user.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { trustProject } from "../../../test/support/trusted-project.ts";
import { takeLock } from "../../store/sqlite/lock.ts";
import { errorTable } from "../../protocol/error.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const bin = join(root, "bin", "tutti.js");
const base = tempFolder({ after });

/** A project and a home folder of its own, so that the files of whoever runs the tests do not matter. */
function makeProject() {
  const folder = mkdtempSync(join(base, "p-"));
  const project = join(folder, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(folder, "home"));
  const env = { PATH: process.env["PATH"], HOME: join(folder, "home"), TUTTI_COMMAND: "tutti", NO_COLOR: "1" };
  const tutti = (args: readonly string[], more: Record<string, string> = {}) => {
    const child = spawnSync(process.execPath, [bin, ...args], {
      cwd: project,
      encoding: "utf8",
      timeout: 240_000,
      env: { ...env, ...more },
    });
    return { status: child.status, out: child.stdout, err: child.stderr };
  };
  const write = (path: string, text: string): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return { folder, project, env, tutti, write, state: join(folder, "state") };
}

const greeter = "---\nname: greeter\ndescription: Greets\ntools: echo\n---\nGreet.\n";
const script = (...rules: object[]): string => JSON.stringify({ rules });

describe("agents list, show and check", () => {
  test("list prints every agent, or how to make the first one", () => {
    const { tutti, write } = makeProject();
    assert.match(tutti(["agents", "list"]).out, /no agents yet; make one with `tutti agents new NAME`/);
    write("project/.claude/agents/greeter.md", greeter);
    write("home/.tutti/agents/mine.md", "---\ndescription: Of the user\nmodel: x/y\n---\nb");
    const { status, out } = tutti(["agents", "list"]);
    assert.equal(status, 0);
    assert.match(out, /^greeter {2}Greets \(project\)\nmine {5}Of the user \(user, x\/y\)\n$/);
    const listed = JSON.parse(tutti(["agents", "list", "--json"]).out) as { agents: { name: string }[] };
    assert.deepEqual(
      listed.agents.map(({ name }) => name),
      ["greeter", "mine"],
    );
  });

  test("show prints one agent from any folder of the project; an unknown one gives status 4 and the known names", () => {
    const { tutti, write, project } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    mkdirSync(join(project, "deep", "er"), { recursive: true });
    const { status, out } = tutti(["agents", "show", "greeter", "--cwd", "deep/er"]);
    assert.equal(status, 0);
    assert.match(out, /greeter \(project\)[\s\S]*tools +echo[\s\S]*Greet\./);
    const lost = tutti(["agents", "show", "nobody"]);
    assert.equal(lost.status, errorTable.not_found.exit);
    assert.match(lost.err, /no agent nobody; there are: greeter/);
  });

  test("check prints one line per problem with file and line; only errors give status 3", () => {
    const { tutti, write } = makeProject();
    write("project/.claude/agents/greeter.md", greeter.replace("tools: echo", "tools: Read, WebFetch\ncolor: red"));
    const fine = tutti(["agents", "check"]);
    assert.equal(fine.status, 0);
    assert.match(fine.out, /^\.claude\/agents\/greeter\.md:4: warning: .*WebFetch/m);
    assert.match(fine.out, /^1 agent, 0 errors, 2 warnings$/m);
    write("project/.tutti/agents/broken.md", "---\nname: broken\nmax_turns: many\n---\nb");
    const wrong = tutti(["agents", "check"]);
    assert.equal(wrong.status, errorTable.invalid_input.exit);
    assert.match(wrong.out, /^\.tutti\/agents\/broken\.md:3: error: max_turns: /m);
    const asJson = tutti(["agents", "check", "--json"]);
    assert.equal(asJson.status, errorTable.invalid_input.exit);
    assert.equal((JSON.parse(asJson.out) as { problems: unknown[] }).problems.length, 3);
  });

  test("an unknown tool is a warning", () => {
    const { tutti, write } = makeProject();
    write("project/.tutti/agents/a.md", "---\nname: a\ndescription: d\ntools: reed\n---\nb");
    assert.match(tutti(["agents", "check"]).out, /warning: no tool reed is built in/);
  });

  test("check finds unknown agents in a handover and schemas that cannot be used", () => {
    const { tutti, write } = makeProject();
    write("project/.tutti/agents/lead.md", "---\nname: lead\ndescription: Leads.\nhandover: [ghost]\n---\nLead.\n");
    write(
      "project/.tutti/agents/odd.md",
      "---\nname: odd\ndescription: Odd.\noutput_schema: { type: wibble }\n---\nBe odd.\n",
    );
    const { status, out } = tutti(["agents", "check"]);
    assert.equal(status, errorTable.invalid_input.exit);
    assert.match(out, /lead\.md:4: error: there is no agent ghost/);
    assert.match(out, /odd\.md:4: error: .*output_schema/);
  });

  test("check --watch checks again after every change and ends with status 0 on a signal", async () => {
    const { write, project, env } = makeProject();
    const child = spawn(process.execPath, [bin, "agents", "check", "--watch"], { cwd: project, env });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const until = async (pattern: RegExp): Promise<void> => {
      for (const end = Date.now() + 20_000; !pattern.test(out); await sleep(20)) {
        assert.ok(Date.now() < end, `${pattern} never came:\n${out}`);
      }
    };
    try {
      await until(/0 agents/);
      write("project/.tutti/agents/greeter.md", greeter);
      await until(/1 agent, 0 errors/);
      write("project/.tutti/agents/greeter.md", "---\nname: [\n---\nb");
      await until(/greeter\.md:\d: error: is not YAML[\s\S]*stays in use[\s\S]*1 agent, 1 error/);
      write("project/.tutti/agents/greeter.md", greeter);
      await until(/stays in use[\s\S]*1 agent, 0 errors, 0 warnings/);
    } finally {
      child.kill("SIGTERM");
    }
    assert.equal(await ended, 0);
  });
});

describe("agents new", () => {
  test("writes a file that passes the check, and never overwrites one", () => {
    const { tutti, project } = makeProject();
    const made = tutti(["agents", "new", "helper"]);
    assert.equal(made.status, 0);
    const file = join(project, ".tutti", "agents", "helper.md");
    assert.ok(made.out.includes(file));
    assert.match(tutti(["agents", "check"]).out, /^1 agent, 0 errors, 0 warnings$/m);
    writeFileSync(file, `${readFileSync(file, "utf8")}mine`);
    const again = tutti(["agents", "new", "helper"]);
    assert.equal(again.status, errorTable.conflict.exit);
    assert.match(readFileSync(file, "utf8"), /mine$/);
  });

  test("writes to the user's folder with --user, and refuses a name that is a path", () => {
    const { tutti, env, folder } = makeProject();
    assert.equal(tutti(["agents", "new", "all", "--user"]).status, 0);
    assert.ok(existsSync(join(env.HOME, ".tutti", "agents", "all.md")));
    for (const name of ["../out", "a/b", "_base", "a\nb", "a: b"]) {
      assert.equal(tutti(["agents", "new", name]).status, errorTable.usage.exit, name);
    }
    assert.ok(!existsSync(join(folder, "project", ".tutti", "out.md")));
  });
});

test("trust --settings shows the settings for coding agents and agrees to them; --list and --revoke know them", () => {
  const { tutti, write, state } = makeProject();
  write("project/.mcp.json", '{ "evil": "\u001b[2J" }\n');
  const trust = (...args: string[]) => tutti(["trust", "--state", state, ...args]);
  const shown = trust("--settings", "--show");
  assert.match(shown.out, /^\.mcp\.json not trusted\n {2}\{ "evil": ".*" \}\n/);
  assert.ok(!shown.out.includes("\u001b"));
  assert.equal(trust("--list").out, "nothing is trusted\n");
  assert.equal(trust("--settings").status, 0);
  assert.match(trust("--list").out, /project \.mcp\.json for coding agents, sha256 [0-9a-f]{12}, since /);
  assert.match(trust("--settings", "--show").out, /^\.mcp\.json trusted\n/);
  assert.match(trust("--revoke").out, /is no longer trusted/);
  assert.equal(trust("--list").out, "nothing is trusted\n");
});

describe("agents run", () => {
  test("shows texts and tool calls as they come, with agents below indented, and prints only the result", () => {
    const { tutti, folder, state } = makeProject();
    cpSync(join(root, "examples", "project"), join(folder, "example"), { recursive: true });
    const args = ["agents", "run", "lead", "What is this?", "--cwd", join(folder, "example")];
    const { status, out, err } = tutti([...args, "--script", join(folder, "example", "script.json"), "--state", state]);
    assert.equal(status, 0, err);
    assert.equal(out, "A list of three instruments in one file.\n");
    assert.match(err, /^tsk_\S+ rehearsal\/script: a rehearsal, no model is called\n/);
    assert.match(err, /^ {2}I look around first\.$/m);
    assert.match(err, /^ {2}→ list path: \.\n {2}← list/m);
    assert.match(err, /^ {2}▸ counter: How many lines has notes\.txt\?$/m);
    assert.match(err, /^ {4}→ read path: notes\.txt$/m);
    assert.match(err, /^ {4}✓ 3$/m);
    assert.equal(err.match(/I look around first\./g)?.length, 1);
    assert.match(err, /rehearsal: a script was played, no model was called\n$/);
  });

  test("a policy gives the prompt to a coding agent or to a model; a profile that nobody has is refused with its line", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    const roles = (build: string): string =>
      `policy:\n  router: rehearsal/script\n  info: rehearsal/script\n  build: ${build}\n  escalate_to: rehearsal/script\n`;
    write(
      "home/.tutti/tutti.config.json",
      '{"acp":{"profiles":{"mine":{"command":["no-such-agent"],"metered":true}}}}',
    );
    const policy = write("policy.toon", roles("acp:mine"));
    const run = (prompt: string, ...more: string[]) =>
      tutti(["agents", "run", "greeter", prompt, "--policy", policy, "--state", state, "--no-input", ...more]);
    const built = run("Implement the parser", "--runner", "auto");
    assert.match(built.err, /^acp:mine by \S+policy\.toon: matched implementation\/debugging scope \(scope\)\n/);
    assert.match(built.err, /the agent mine is not installed: there is no program no-such-agent/);
    const told = run("Explain the parser");
    assert.equal(told.status, 0, told.err);
    assert.match(told.err, /^rehearsal\/script by /);
    write("policy.toon", roles("acp:yours/large"));
    const unknown = run("Implement the parser");
    assert.equal(unknown.status, errorTable.invalid_input.exit);
    assert.match(
      unknown.err,
      /policy\.toon:4: policy\.build: there is no profile yours for the runner acp; there are: .*mine/,
    );
    assert.equal(run("x", "--model", "a/b").status, errorTable.usage.exit);
  });

  test("without a model, a new agent is rehearsed: real tools list the folder and read a file, and the result says so", () => {
    const { tutti, write } = makeProject();
    assert.equal(tutti(["agents", "new", "reviewer"]).status, 0);
    const alone = tutti(["agents", "run", "reviewer", "What is here?"]);
    assert.equal(alone.status, 0, alone.err);
    assert.match(alone.err, /^tsk_\S+ rehearsal\/script: a rehearsal, no model is called\n/);
    assert.match(alone.err, /→ list path: \.\n[^]*→ read path: \.tutti\/agents\/reviewer\.md\n/);
    assert.match(
      alone.out,
      /^This was a rehearsal: no model was called.*`read` read \S+reviewer\.md\.\n.*ANTHROPIC_API_KEY/,
    );
    write("project/a.bin", "x");
    write("project/notes.txt", "Three trumpets.\n");
    assert.match(tutti(["agents", "run", "reviewer", "And now?"]).err, /→ read path: notes\.txt\n/);
  });

  test("without a model, a rehearsal ends also for agents without tools and with an output schema", () => {
    const { tutti, write } = makeProject();
    write("project/.tutti/agents/idle.md", "---\ndescription: d\ntools: []\n---\nb");
    write(
      "project/.tutti/agents/lister.md",
      "---\ndescription: d\ntools: list\noutput_schema: { type: object }\n---\nb",
    );
    assert.match(tutti(["agents", "run", "idle", "Go"]).out, /^This was a rehearsal: .* not have the tool `list`/);
    const lister = tutti(["agents", "run", "lister", "Go"]);
    assert.equal(lister.status, errorTable.task_failed.exit);
    assert.match(lister.err, /cannot make the result that output_schema asks for/);
  });

  test("without a model, a program that asks for JSON gets an error and no rehearsal", () => {
    const { tutti } = makeProject();
    tutti(["agents", "new", "reviewer"]);
    const { status, out, err } = tutti(["agents", "run", "reviewer", "Go", "--json"]);
    assert.deepEqual([status, out], [errorTable.invalid_input.exit, ""]);
    assert.match(err, /reviewer has no model/);
  });

  test("--json prints task, status, result, cost and whether it was a rehearsal, and nothing else", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    write(
      "project/s.json",
      script({ final: { hello: "{{user}}" }, spend: { input: 10, output: 5, money_micro_usd: 20 } }),
    );
    const { status, out, err } = tutti([
      "agents",
      "run",
      "greeter",
      "you",
      "--script",
      "s.json",
      "--state",
      state,
      "--json",
    ]);
    assert.equal(status, 0, err);
    assert.equal(err, "");
    const { task, ms, ...rest } = JSON.parse(out) as Record<string, unknown>;
    assert.match(String(task), /^tsk_/);
    assert.equal(typeof ms, "number");
    assert.deepEqual(rest, {
      status: "completed",
      result: { hello: "you" },
      tokens: 15,
      money_micro_usd: 20,
      unpriced: false,
      rehearsal: true,
      called: false,
    });
  });

  test("that fails gives status 8 and the reason on standard error", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    write("project/s.json", script({ fail: { code: "refused", message: "not today" } }));
    const { status, out, err } = tutti(["agents", "run", "greeter", "hi", "--script", "s.json", "--state", state]);
    assert.equal(status, errorTable.task_failed.exit);
    assert.equal(out, "");
    assert.match(err, /✗ .*not today/);
  });

  test("with a model whose key is missing names the variable to set", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter.replace("tools: echo", "model: sonnet"));
    const { status, err } = tutti(["agents", "run", "greeter", "hi", "--state", state]);
    assert.equal(status, errorTable.task_failed.exit);
    assert.match(err, /ANTHROPIC_API_KEY/);
  });

  test("a missing agent, folder, script or prompt and a broken definition each give one line", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    write("project/.tutti/agents/broken.md", "---\nname: broken\ncontext: no\n---\nb");
    write("project/s.json", "{");
    const cases: [string[], number, RegExp][] = [
      [["nobody", "hi"], errorTable.not_found.exit, /no agent nobody; there are: greeter/],
      [["broken", "hi"], errorTable.invalid_input.exit, /broken\.md:3: context/],
      [["greeter", " "], errorTable.usage.exit, /blank/],
      [["greeter", "hi", "--cwd", "nowhere"], errorTable.not_found.exit, /no folder nowhere/],
      [["greeter", "hi", "--script", "s.json"], errorTable.invalid_input.exit, /script is not JSON/],
      [["greeter", "hi", "--script", "no.json"], errorTable.not_found.exit, /no file no\.json/],
    ];
    for (const [args, expected, message] of cases) {
      const { status, err } = tutti(["agents", "run", ...args, "--state", state]);
      assert.equal(status, expected, err);
      assert.match(err, message);
      assert.equal(err.trimEnd().split("\n").length, 1, err);
    }
  });

  test("goes on with a run that was killed when the same command is given again, and repeats no step", async () => {
    const { tutti, write, state, project, env } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter.replace("tools: echo", "tools: write"));
    const slow = script(
      { turn: 0, call: [{ tool: "write", args: { path: "made.txt", content: "x" } }] },
      { turn: 1, delay_ms: 3_000, final: "done" },
    );
    write("project/s.json", slow);
    const args = ["agents", "run", "greeter", "hi", "--script", "s.json", "--state", state];
    const child = spawn(process.execPath, [bin, ...args], { cwd: project, env });
    let seen = "";
    child.stderr.on("data", (chunk: Buffer) => (seen += chunk.toString()));
    const ended = new Promise((resolve) => child.on("exit", resolve));
    for (const end = Date.now() + 20_000; !seen.includes("← write"); await sleep(20)) assert.ok(Date.now() < end, seen);
    child.kill("SIGKILL");
    await ended;
    const made = statSync(join(project, "made.txt")).mtimeMs;
    const again = tutti(args);
    assert.equal(again.status, 0, again.err);
    assert.equal(again.out, "done\n");
    assert.match(again.err, /going on with tsk_/);
    assert.equal(again.err.match(/→ write/g)?.length, 1);
    assert.equal(statSync(join(project, "made.txt")).mtimeMs, made);
  });

  test("text of a model cannot move the cursor or change the title of a terminal", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    write("project/s.json", script({ say: "a\u001b]0;title\u0007b\u001b[2Jc\u009bd", final: 1 }));
    const { err } = tutti(["agents", "run", "greeter", "hi", "--script", "s.json", "--state", state]);
    assert.match(err, /a\\u001b\]0;title\\u0007b\\u001b\[2Jc\\u009bd/);
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(err, /[\u001b\u0007\u009b]/);
  });
});

const hasScript = spawnSync("sh", ["-c", "command -v script timeout"]).status === 0;
const noScript = hasScript ? false : "there is no `script` to make a terminal";

describe("agents run on a terminal", { skip: noScript }, () => {
  /** What the terminal shows; `answer` is typed once something is asked. */
  async function onTerminal(rules: object[], answer: string): Promise<{ status: number | null; shown: string }> {
    const { write, state, project, env } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter.replace("tools: echo", "tools: ask, echo, run"));
    write("project/s.json", script(...rules));
    const words = [process.execPath, bin, "agents", "run", "greeter", "hi", "--script", "s.json", "--state", state];
    const line = words.map((word) => `'${word}'`).join(" ");
    const child = spawn("timeout", ["40", "script", "-qec", line, "/dev/null"], {
      cwd: project,
      env: { ...env, TERM: "xterm" },
    });
    let shown = "";
    let answered = false;
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
      if (answered || !shown.includes("> ")) return;
      answered = true;
      child.stdin.write(answer);
    });
    const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { status, shown };
  }

  test("an approval is asked for inline, and the agent gets the answer", async () => {
    const rules = [
      { turn: 0, say: "May I?", ask: { question: "Delete it all?", kind: "approval" } },
      { turn: 1, last: { regex: '"approved":\\s*true|approved|yes' }, final: "deleted" },
      { final: "kept" },
    ];
    const { status, shown } = await onTerminal(rules, "y\r");
    assert.equal(status, 0, shown);
    assert.match(shown, /Delete it all\?[\s\S]*y to allow it once/);
    assert.match(shown, /deleted/);
  });

  test("a call of unknown price is asked about first, and is named beside the cost", async () => {
    const spend = { input: 10, output: 5, money_micro_usd: null };
    const { status, shown } = await onTerminal([{ final: "hello", spend }], "y\r");
    assert.equal(status, 0, shown);
    assert.match(shown, /Go on\s+without\s+counting\s+it\?[\s\S]*15 tokens, and calls whose price is not known/);
    assert.equal(shown.match(/budget\s+counts\s+its\s+calls\s+as\s+\$0/g)?.length, 1, "one warning");
  });

  test("Ctrl-C at a question leaves the run for later with status 130", async () => {
    const rules = [{ turn: 0, ask: { question: "Well?", kind: "question" } }, { final: "over" }];
    const { status, shown } = await onTerminal(rules, "\u0003");
    assert.equal(status, 130, shown);
    assert.match(shown, /what was under way is kept/);
  });
});

describe("models", () => {
  test("without any key lists the rehearsal as the default and which variables to set", () => {
    const { tutti } = makeProject();
    const { status, out } = tutti(["models", "--offline"]);
    assert.equal(status, 0);
    assert.match(out, /✓ rehearsal\/script .*default/);
    assert.match(out, /– anthropic\/\S+ .*no key: `tutti models login anthropic`, or set ANTHROPIC_API_KEY/);
  });

  test("with a config asks the provider whether it can be reached, and shows aliases, price and format", async () => {
    const { write, project, env } = makeProject();
    const server = createServer((_, reply) => {
      reply.setHeader("content-type", "application/json");
      reply.end(JSON.stringify({ data: [{ id: "tiny" }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    write(
      "project/tutti.config.ts",
      `const port: number = ${port};
      export default { models: {
        default: "fast",
        aliases: { fast: "mine/tiny" },
        providers: { mine: { kind: "openai-compatible", base_url: \`http://127.0.0.1:\${port}/v1\`, key_env: null } },
        prices: { "mine/tiny": { input: 1000000, output: 2000000 } },
      } };`,
    );
    trustProject(join(env.HOME, ".tutti"), project);
    const child = spawn(process.execPath, [bin, "models", "--json"], { cwd: project, env });
    let out = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    await new Promise((resolve) => child.on("close", resolve));
    server.close();
    const tiny = (JSON.parse(out) as Record<string, unknown>[]).find(({ model }) => model === "mine/tiny");
    assert.deepEqual(tiny, {
      model: "mine/tiny",
      aliases: ["fast"],
      default: true,
      provider: "mine",
      key_env: null,
      key_from: null,
      key: true,
      reachable: { ok: true, said: "" },
      format: "native",
      price: { input_micro_usd: 1_000_000, output_micro_usd: 2_000_000 },
    });
  });
});

describe("the config", () => {
  test("can define tools, which an agent calls once it is allowed to", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter.replace("tools: echo", "tools: shout"));
    write(
      "project/s.json",
      script({ turn: 0, call: [{ tool: "shout", args: { text: "hey" } }] }, { final: "{{last}}" }),
    );
    write(
      "project/tutti.config.mjs",
      `const input = { "~standard": { version: 1, vendor: "own", validate: (value) => ({ value }) } };
       export default {
         approvals: { tools: { shout: "free" } },
         tools: [{ name: "shout", description: "Shouts", input, parameters: { type: "object" }, effects: ["read"],
                   run: ({ text }) => text.toUpperCase() }],
       };`,
    );
    assert.match(tutti(["trust", "--state", state]).out, /shout \(read\)/);
    const { status, out, err } = tutti(["agents", "run", "greeter", "hi", "--script", "s.json", "--state", state]);
    assert.equal(status, 0, err);
    assert.match(out, /HEY/);
  });

  const shouting = `import { defineTool } from "tutti"; import { z } from "zod";
    const input = z.object({ text: z.string() });
    export default { tools: [defineTool({ name: "shout", description: "Shouts.", input, effects: ["read"],
      run: ({ text }) => text.toUpperCase() })] };`;

  test("can import tutti and zod, although the project has installed neither", () => {
    const { tutti, write, project, env } = makeProject();
    write("project/tutti.config.mjs", shouting);
    assert.match(tutti(["doctor"]).out, /warn config +.*is not used/);
    trustProject(join(env.HOME, ".tutti"), project);
    const { status, out } = tutti(["doctor"]);
    assert.equal(status, 0, out);
    assert.match(out, /ok +config +.*tutti\.config\.mjs/);
  });

  test("gets the zod of its project where there is one", () => {
    const { tutti, write } = makeProject();
    write("project/tutti.config.mjs", shouting);
    const manifest = { name: "zod", version: "0.0.1", type: "module", exports: "./index.js" };
    write("project/node_modules/zod/package.json", JSON.stringify(manifest));
    write("project/node_modules/zod/index.js", "export const z = undefined; throw new Error('the zod of the project')");
    assert.match(tutti(["trust"]).err, /the zod of the project/);
  });

  test("that makes workspaces shows the programs that would run in them, before and after it is trusted", () => {
    const { tutti, write, state } = makeProject();
    const setup = [{ command: ["npm", "ci\u001b[2J"], network: true, lock: ["package-lock.json"], makes: ["m"] }];
    write("project/tutti.config.json", JSON.stringify({ workspaces: { copy: [".env"], commits: "tutti", setup } }));
    const lines =
      /workspaces\n +copy: \.env\n +commits: tutti\n +setup\n +- command: npm \$'ci\S+'\n +network: true\n +lock: package-lock\.json/;
    for (const options of [["--show"], []]) {
      const { out } = tutti(["trust", ...options, "--state", state]);
      assert.match(out, lines);
      assert.ok(!out.includes("\u001b[2J"));
    }
  });

  test("with an invalid tool is refused with the file and the tool", () => {
    const { tutti, write, state } = makeProject();
    write("project/.tutti/agents/greeter.md", greeter);
    write("project/tutti.config.mjs", "export const tools = [{ name: 'shout' }]");
    const { status, err } = tutti(["trust", "--state", state]);
    assert.equal(status, errorTable.invalid_input.exit);
    assert.match(err, /tutti\.config\.mjs: the tool shout: /);
  });

  const refused: [string, string, RegExp][] = [
    ["tutti.config.json", '{"modles": {}}', /tutti\.config\.json: .*modles/],
    ["tutti.config.json", "{", /tutti\.config\.json cannot be used: /],
    ["tutti.config.json", '{"models":{"aliases":{"a":1}}}', /tutti\.config\.json: models\.aliases\.a: /],
    ["tutti.config.mjs", "throw new Error('no luck')", /tutti\.config\.mjs cannot be used: no luck/],
    ["tutti.config.ts", "export default { approvals: { read: 'never' } }", /tutti\.config\.ts: approvals\.read: /],
  ];
  for (const [name, text, message] of refused) {
    test(`${name} with ${text} is refused with its file and path`, () => {
      const { tutti, write, project, env } = makeProject();
      write(`project/${name}`, text);
      trustProject(join(env.HOME, ".tutti"), project);
      const { status, err } = tutti(["models", "--offline"]);
      assert.equal(status, errorTable.invalid_input.exit);
      assert.match(err, message);
      assert.equal(err.trimEnd().split("\n").length, 1, err);
    });
  }

  test("that exists twice is refused, since it is unclear which one counts", () => {
    const { tutti, write } = makeProject();
    write("project/tutti.config.json", "{}");
    write("project/tutti.config.js", "export default {}");
    assert.match(tutti(["models", "--offline"]).err, /two configs/);
  });
});

describe("doctor", () => {
  const findings = (out: string): Record<string, { state: string; said: string; todo?: string }> =>
    Object.fromEntries(
      (JSON.parse(out) as { findings: { what: string; state: string; said: string }[] }).findings.map((each) => [
        each.what,
        each,
      ]),
    );

  test("in an empty project gives status 0 and says what to do; the state folder is not made", () => {
    const { tutti, state } = makeProject();
    const { status, out } = tutti(["doctor", "--state", state]);
    assert.equal(status, 0);
    for (const what of ["node", "state", "config", "models", "agents", "git", "bubblewrap"]) {
      assert.match(out, new RegExp(`^(ok  |warn|fail) ${what} `, "m"));
    }
    assert.match(out, /tutti agents new NAME/);
    assert.ok(!existsSync(state));
  });

  test("says who uses the state folder, which is not a failure", () => {
    const { tutti, state } = makeProject();
    mkdirSync(state);
    const lock = takeLock(state);
    try {
      const { status, out } = tutti(["doctor", "--state", state, "--json"]);
      assert.equal(status, 0);
      assert.equal(findings(out)["state"]?.state, "warn");
      assert.match(findings(out)["state"]?.said ?? "", new RegExp(`process ${process.pid}`));
    } finally {
      lock.release();
    }
    assert.equal(findings(tutti(["doctor", "--state", state, "--json"]).out)["state"]?.state, "ok");
  });

  test("fails for an impossible state folder and an invalid config, each with its own status", () => {
    const { tutti, write, project, env } = makeProject();
    const file = write("file", "");
    const impossible = tutti(["doctor", "--state", join(file, "state"), "--json"]);
    assert.equal(impossible.status, errorTable.read_only.exit);
    assert.equal(findings(impossible.out)["state"]?.state, "fail");
    write("diary/tutti.db", "no database ".repeat(1_000));
    const diary = tutti(["doctor", "--state", join(file, "..", "diary"), "--json"]);
    assert.equal(diary.status, errorTable.corrupt.exit);
    assert.equal(findings(diary.out)["database"]?.state, "fail");
    assert.match(findings(diary.out)["database"]?.todo ?? "", /move it away/);
    write("project/tutti.config.json", "[]");
    trustProject(join(env.HOME, ".tutti"), project);
    const broken = tutti(["doctor", "--json"]);
    assert.equal(broken.status, errorTable.invalid_input.exit);
    assert.equal(findings(broken.out)["config"]?.state, "fail");
  });

  test("fails for a state folder it may not write to", (t) => {
    const folder = tempFolder(t);
    const state = join(folder, "state");
    mkdirSync(state);
    chmodSync(state, 0o500);
    giveToOrdinaryUser(folder);
    const { status, out, err } = asOrdinaryUser({
      folder,
      args: ["doctor", "--state", state, "--json"],
      loads: ["doctor", "--state", tempFolder(t), "--json"],
    });
    assert.equal(status, errorTable.io.exit, err);
    assert.equal(findings(out)["state"]?.state, "fail");
  });

  test("names the agents whose model lacks a key, and the definitions that are wrong", () => {
    const { tutti, write } = makeProject();
    write("project/.tutti/agents/a.md", "---\nname: a\nmodel: openai/gpt-6-sol\n---\nb");
    write("project/.tutti/agents/b.md", "---\nname: [\n---\nb");
    const { status, out } = tutti(["doctor"]);
    assert.equal(status, 0);
    assert.match(out, /warn models .*agent a: .*OPENAI_API_KEY/);
    assert.match(out, /warn agents .*1 wrong: .*b\.md:\d/);
    assert.doesNotMatch(tutti(["doctor"], { OPENAI_API_KEY: "x" }).out, /agent a:/);
  });
});
