import assert from "node:assert/strict";
import { test } from "node:test";

import type { AllowedCalls, CommandPattern } from "../protocol/invocation/standing-approval.ts";
import { allowedText, covers, fits } from "./standing-approvals.ts";

test("a pattern matches element by element; * stands for one or more whole elements and for no option", () => {
  const cases: readonly [pattern: CommandPattern, argv: readonly string[], fits: boolean][] = [
    [["npm", "test"], ["npm", "test"], true],
    [["npm", "test"], ["npm", "test", "x"], false],
    [["npm", "test"], ["npm"], false],
    [["npm", "test"], ["npm test"], false],
    [["git", "diff", "*"], ["git", "diff", "a.txt"], true],
    [["git", "diff", "*"], ["git", "diff", "a b", "c; rm -rf /"], true],
    [["git", "diff", "*"], ["git", "diff"], false],
    [["git", "diff", "*"], ["git", "diff", "--output=/etc/passwd"], false],
    [["git", "diff", "*"], ["git", "diff", "a", "-x", "b"], false],
    [["git", "diff", "*"], ["git", "diff", "--", "a"], false],
    [["git", "*", "a"], ["git", "x", "y", "a"], true],
    [["git", "*", "a"], ["git", "a"], false],
    [["git", "*", "--stat", "*"], ["git", "diff", "--stat", "a", "b"], true],
    [["git", "src/*"], ["git", "src/a.ts"], false],
    [["git", "*"], ["/tmp/git", "diff"], false],
  ];
  for (const [pattern, argv, wanted] of cases)
    assert.equal(fits(pattern, argv), wanted, JSON.stringify([pattern, argv]));
});

test("what was allowed for a confined call without the network covers neither the network nor an unconfined call", () => {
  const made: AllowedCalls = { tool: "run", argv: ["git", "fetch"], unconfined: false, network: false };
  assert.equal(covers(made, made), true);
  assert.equal(covers(made, { ...made, network: true }), false);
  assert.equal(covers(made, { ...made, unconfined: true, program: "/usr/bin/git" }), false);
  const wide: AllowedCalls = { ...made, unconfined: true, network: true, program: "/usr/bin/git" };
  assert.equal(covers(wide, made), true);
  assert.equal(covers(wide, { ...wide, program: "/tmp/git" }), false, "the same name is another file");
  assert.equal(covers({ tool: "run", unconfined: false, network: false }, made), false, "not without a command");
  assert.match(allowedText(wide), /the command git fetch, which is \/usr\/bin\/git; also unconfined, with the network/);
});
