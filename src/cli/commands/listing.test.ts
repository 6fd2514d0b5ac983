// What `tutti tasks` prints, as real processes, piped and on terminals.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";

import { bench } from "../../../test/support/cli-process.ts";

const target = (agent: string, text: string) => ({
  agent: { type: "named", agent_id: agent },
  message: { role: "user", parts: [{ part_type: "text", data: text }] },
});

/** Two agents, of which one fails. */
const halfFails = {
  invocation: {
    targets: [
      target("good", "Say something that is rather long, so that it is cut on a terminal.\nNow."),
      target("bad", "x"),
    ],
    join: "all",
  },
  agents: { good: { instructions: "g" }, bad: { instructions: "b" } },
  script: {
    rules: [
      { agent: "good", say: "fine" },
      { agent: "bad", fail: { code: "refused", message: "refused", retry: "never" } },
    ],
  },
};

test("a row has the outcome of what was asked, the agents, the first line of the prompt, its age and its cost", async (t) => {
  const b = bench(t);
  assert.equal(b.run("invoke", "--quiet", b.file("half.json", halfFails)).status, 8);
  const { out } = b.run("tasks");
  assert.match(
    out,
    /^✗ tsk_\w+ {2}1 of 2 failed {2}good, bad {2}(?:just now|\d+ s ago) .*Say something .* terminal\.\n$/,
  );
  for (const columns of [80, 40]) {
    const shown = (await b.onTerminalOf(columns, "tasks").ended).out.replaceAll("\r", "");
    const lines = shown.trimEnd().split("\n");
    assert.match(shown, /^✗ tsk_\w+ +1 of 2 failed/);
    assert.match(lines.at(-1) ?? "", /^ {4}good, bad: Say something/);
    for (const line of lines) assert.ok(line.length < columns + 1, `${columns}: ${line}`);
  }
});

test("unfinished work on which no process works is said to be nobody's, with the question that is open", async (t) => {
  const b = bench(t);
  const asking = b.start("invoke", join("examples", "invocations", "ask.json"));
  await asking.said(/ask\.raised/);
  asking.child.kill("SIGKILL");
  await asking.ended;
  assert.match(b.run("tasks").out, /^\? tsk_\w+ {2}asks you: Which colour .* \(ask_\w+\), nobody working {2}planner/);
});
