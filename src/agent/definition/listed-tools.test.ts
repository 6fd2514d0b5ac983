import assert from "node:assert/strict";
import { test } from "node:test";

import { readTools, splitList } from "./listed-tools.ts";

test("names of other coding agents become ours, each tool once", () => {
  assert.deepEqual(readTools(["Read", "Grep", "Glob", "Bash", "MultiEdit", "Edit", "echo"]), {
    tools: ["read", "search", "run", "edit", "echo"],
    agents: undefined,
    warnings: [],
  });
});

test("a tool that cannot be given as it is listed is left out, with a warning", () => {
  const { tools, warnings } = readTools([
    "WebFetch",
    "mcp__github__search",
    "mcp__docs__*",
    "Bash(git diff:*)",
    "Read",
  ]);
  assert.deepEqual(tools, ["mcp__github__search", "mcp__docs__*", "read"]);
  assert.deepEqual(warnings, [
    "Tutti has no tool WebFetch; it is left out",
    "Bash(git diff:*) is left out: Tutti cannot limit run to some calls; list run to give all of it",
  ]);
});

test("Task limits the agents that may be called, unless it is also listed without a limit", () => {
  assert.deepEqual(readTools(["Task(a, b)", "Agent(c)"]).agents, ["a", "b", "c"]);
  assert.equal(readTools(["Task(a)", "Task"]).agents, undefined);
  assert.equal(readTools(["*", "Task(a)"]).tools, undefined);
});

test("a list is split at commas outside of parentheses", () => {
  assert.deepEqual(splitList(" Read, Bash(git diff:*, git log:*),, Task(a) "), [
    "Read",
    "Bash(git diff:*, git log:*)",
    "Task(a)",
  ]);
  assert.deepEqual(splitList("a), b"), ["a)", "b"]);
});
