// Names, prompts, results, errors and file names hold codes that a terminal obeys. No command may pass one of them on.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { type Bench, bench } from "../support/cli-process.ts";

/** Changes the title, clears the screen in two ways, reverses the text, breaks the line, and overwrites it. */
const evil = "e\u001b]0;owned\u0007v\u001bci\u009b2J\u202el\u2028\u200f\u2066\u061c\u007fx\ry";

/** What the terminal itself and our own drawing need: line ends, and codes that redraw the tree and the prompt. */
const ours =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\r+\n|\r?\u001b\[\d+[AGJ]|\u001b\[\?2004[hl]/g;
const obeyed =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

const hasScript = spawnSync("sh", ["-c", "command -v script timeout"]).status === 0;

/** Runs a command on a terminal, or with pipes where there is no program that makes one. Gives all that was shown. */
async function shown(b: Bench, ...args: readonly string[]): Promise<string> {
  const { out, err } = await (hasScript ? b.onTerminal(...args) : b.start(...args)).ended;
  return `${out}${err}`;
}

function assertHarmless(text: string, command: readonly string[]): void {
  const rest = text.replaceAll(ours, "\n");
  assert.doesNotMatch(rest, obeyed, `${JSON.stringify(command)} printed ${JSON.stringify(rest)}`);
}

const message = { role: "user", parts: [{ part_type: "text", data: `prompt ${evil}` }] };

function invocation(b: Bench, name: string, rule: object): string {
  const agents = { [`agent ${evil}`]: { instructions: `instructions ${evil}`, tools: ["ask"] } };
  const targets = [{ agent: { type: "named", agent_id: `agent ${evil}` }, message }];
  return b.file(name, { invocation: { targets }, agents, script: { rules: [rule] } });
}

test("no command passes codes of an agent, a prompt, a result or an error on to the terminal", async (t) => {
  const b = bench(t);
  const done = invocation(b, "done.json", { say: `said ${evil}`, final: `result ${evil}` });
  const failed = invocation(b, `failed ${evil}.json`, {
    fail: { code: "step_failed", message: `error ${evil}`, retry: "never" },
  });
  const seen: string[] = [];
  const run = async (...args: readonly string[]): Promise<string> => {
    const text = await shown(b, ...args);
    assertHarmless(text, args);
    seen.push(text);
    return text;
  };
  await run("invoke", done);
  await run("invoke", failed);
  const { out } = b.run("tasks", "--json");
  assertHarmless(out, ["tasks", "--json"]);
  const tasks: { id: string; agent: string }[] = JSON.parse(out);
  for (const { id } of tasks) {
    await run("show", id);
    assert.ok((await run("show", id, "--json")).includes("\\u009b2J"));
    await run("logs", id);
    await run("logs", id, "--json");
    await run("export", id);
  }
  await run("tasks", "--all");
  for (const what of ["result", "error"]) {
    assert.ok(
      seen.some((text) => text.includes(`${what} e\\u001b]0;owned\\u0007v`)),
      what,
    );
  }
  const all = b.run("tasks", "--all", "--json").out;
  const listed: { agent: string }[] = JSON.parse(all);
  assert.ok(
    listed.some(({ agent }) => agent.includes(evil)),
    `JSON keeps the value: ${all}`,
  );
});

test("a question and its choices are shown and not obeyed, in lists and at the prompt", async (t) => {
  const b = bench(t);
  assert.equal(b.run("up", "--detach", "--port", "0").status, 0);
  const ask = { question: `question ${evil}`, choices: [`choice ${evil}`, "no"] };
  const file = invocation(b, "ask.json", { ask, final: "done" });
  assert.equal(b.run("invoke", file, "--detach").status, 0);
  let open: { asks: { id: string }[] } = { asks: [] };
  for (let look = 0; look < 100 && open.asks.length === 0; look += 1) open = JSON.parse(b.run("asks", "--json").out);
  const id = open.asks[0]?.id ?? "";
  assertHarmless(await shown(b, "asks"), ["asks"]);
  assertHarmless(await shown(b, "asks", "--json"), ["asks", "--json"]);
  if (!hasScript) return;
  const answering = b.onTerminal("answer", id);
  await answering.said(/question e\\u001b\]0;owned[^]*> /);
  answering.child.stdin?.write("no\r");
  const { out } = await answering.ended;
  assertHarmless(out, ["answer"]);
});

test("files, folders and arguments with such names are shown and not obeyed, also in errors and usage errors", async (t) => {
  const b = bench(t);
  const project = join(b.folder, `project ${evil}`);
  const folder = join(project, ".tutti", "agents");
  mkdirSync(folder, { recursive: true });
  const definition = `---\ndescription: ${JSON.stringify(evil)}\nmodel: ${JSON.stringify(evil)}\nunknown: 1\n---\n${evil}\n`;
  writeFileSync(join(folder, "one.md"), definition);
  writeFileSync(join(folder, `two ${evil}.md`), definition);
  writeFileSync(join(project, "tutti.config.json"), JSON.stringify({ models: { default: evil } }));
  for (const json of [[], ["--json"]]) {
    const commands = [
      ["doctor", "--cwd", project],
      ["trust", project],
      ["models", "--offline", "--cwd", project],
      ["invoke", `missing ${evil}.json`],
      ["show", `tsk_${evil}`],
      ["answer", `ask_${evil}`, "yes"],
      ["tasks", `--${evil}`],
      [`command${evil}`],
    ];
    for (const command of commands) assertHarmless(await shown(b, ...command, ...json), [...command, ...json]);
  }
  // These have no --state.
  for (const command of [["list"], ["check"], ["show", "one"], ["show", "one", "--json"], ["show", evil]]) {
    const args = [join(import.meta.dirname, "../../bin/tutti.js"), "agents", ...command, "--cwd", project];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: process.env });
    assert.ok(`${stdout}${stderr}`.includes("\\u001b]0;owned"), `${stdout}${stderr}`);
    assertHarmless(`${stdout}${stderr}`, ["agents", ...command]);
  }
});
