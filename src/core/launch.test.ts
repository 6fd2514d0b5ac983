import assert from "node:assert/strict";
import { test } from "node:test";

import { launchable, refuseDirectWork } from "./launch.ts";

const task = { workdir: "/repo", prompt: "fix the bug", model: null };

test("blank tasks are dropped and reported, the others keep their order", () => {
  const other = { ...task, prompt: "add tests" };
  const blanks = [
    { ...task, workdir: " \n" },
    { ...task, prompt: "", id: "docs" },
    { ...task, workdir: "\u0085", prompt: "\u3000" },
  ];
  assert.deepEqual(launchable([task, ...blanks, other]), {
    launch: [task, other],
    dropped: [
      { what: "tasks[1]", reason: "workdir is blank" },
      { what: "tasks[2] (docs)", reason: "prompt is blank" },
      { what: "tasks[3]", reason: "workdir and prompt are blank" },
    ],
  });
});

test("the refusal names the rules and what to do instead", () => {
  const text = refuseDirectWork("edited main.ts");
  assert.match(text, /SP1-SP5/);
  assert.match(text, /launch a session/);
});

test("the refusal repeats what was attempted", () => {
  assert.match(refuseDirectWork("  edited main.ts "), /: edited main\.ts$/);
});

test("a refusal without a summary ends with a period and leaves no colon hanging", () => {
  for (const summary of ["", " \n"]) assert.match(refuseDirectWork(summary), /[^:\s.]\.$/);
});
