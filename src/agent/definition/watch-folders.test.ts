import assert from "node:assert/strict";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../../test/support/wait-until.ts";
import { agentText, definitionProject, instructionsOf } from "../../../test/support/definition-project.ts";
import type { LoadedDefinitions } from "./agent-folders.ts";
import { watchDefinitions } from "./watch-folders.ts";

describe("watched agents", () => {
  test("follow a file that is made, changed and removed, in folders that were not there before", async () => {
    const { root, write, folders } = definitionProject({ after });
    const seen: LoadedDefinitions[] = [];
    const watched = await watchDefinitions(folders, (loaded) => seen.push(loaded));
    try {
      assert.deepEqual(watched.current().agents, []);
      write("project/.tutti/agents/a.md", agentText("a", "one"));
      await until(() => instructionsOf(watched.current())["a"] === "one");
      write("project/.tutti/agents/a.md", agentText("a", "two"));
      await until(() => instructionsOf(watched.current())["a"] === "two");
      // As many editors do it: beside, then over.
      renameSync(
        write("project/.tutti/agents/a.tmp", agentText("a", "three")),
        join(root, "project/.tutti/agents/a.md"),
      );
      await until(() => instructionsOf(watched.current())["a"] === "three");
      rmSync(join(root, "project/.tutti"), { recursive: true });
      await until(() => watched.current().agents.length === 0);
      write("project/.tutti/agents/deep/b.md", agentText("b", "back"));
      await until(() => instructionsOf(watched.current())["b"] === "back");
      assert.equal(seen.at(-1), watched.current());
    } finally {
      watched.close();
    }
  });

  test("that break keep their last good definition and say so, until they are whole again", async () => {
    const { write, folders } = definitionProject({ after });
    const file = write("project/.claude/agents/a.md", agentText("a", "good"));
    const watched = await watchDefinitions(folders, () => undefined);
    try {
      write("project/.claude/agents/a.md", "---\nname: a\nmax_turns: lots\n---\nbad");
      await until(() => watched.current().problems.length > 0);
      assert.deepEqual(instructionsOf(watched.current()), { a: "good" });
      assert.deepEqual(
        watched.current().problems.map(({ file: at, level }) => [at, level]),
        [
          [file, "error"],
          [file, "warning"],
        ],
      );
      assert.match(watched.current().problems[1]?.message ?? "", /the earlier definition of a stays in use/);
      write("project/.claude/agents/a.md", agentText("a", "better"));
      await until(() => instructionsOf(watched.current())["a"] === "better");
      assert.deepEqual(watched.current().problems, []);
    } finally {
      watched.close();
    }
  });

  test("are left alone once they are closed", async () => {
    const { write, folders } = definitionProject({ after });
    let calls = 0;
    const watched = await watchDefinitions(folders, () => (calls += 1));
    watched.close();
    write("project/.tutti/agents/a.md", agentText("a"));
    await sleep(400);
    assert.equal(calls, 0);
    assert.deepEqual(watched.current().agents, []);
  });
});
