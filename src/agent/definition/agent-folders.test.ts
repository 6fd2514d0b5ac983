import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";

import { agentText, definitionProject, instructionsOf } from "../../../test/support/definition-project.ts";
import { definitionFolders, loadDefinitions } from "./agent-folders.ts";

describe("the agents of a project and its user", () => {
  test("come from four folders, the project's before the user's, and the first of a name wins with a warning", async () => {
    const { write, folders } = definitionProject({ after });
    write("project/.tutti/agents/a.md", agentText("a", "first"));
    const second = write("project/.claude/agents/a.md", agentText("a", "second"));
    write("project/.claude/agents/b.md", agentText("b", "project"));
    write("home/.tutti/agents/b.md", agentText("b", "user"));
    write("home/.claude/agents/c.md", agentText("c", "user"));
    const loaded = await loadDefinitions(folders);
    assert.deepEqual(instructionsOf(loaded), { a: "first", b: "project", c: "user" });
    assert.deepEqual(
      loaded.agents.map(({ of }) => of),
      ["project", "project", "user"],
    );
    assert.equal(loaded.problems.length, 2);
    assert.equal(loaded.problems[0]?.file, second);
    assert.match(loaded.problems[0]?.message ?? "", /already, in .*\.tutti.agents.a\.md/);
  });

  test("may lie in folders of folders and behind a link; other files and hidden ones are not looked at", async () => {
    const { root, write, folders } = definitionProject({ after });
    write("project/.claude/agents/web/front/x.md", agentText("x"));
    write("project/.claude/agents/notes.txt", "no");
    write("project/.claude/agents/.draft.md", agentText("draft"));
    const elsewhere = write("elsewhere.md", agentText("linked"));
    symlinkSync(elsewhere, join(root, "project/.claude/agents/linked.md"));
    assert.deepEqual(Object.keys(instructionsOf(await loadDefinitions(folders))), ["linked", "x"]);
  });

  test("that cannot be read are problems with their file, and the others are there", async () => {
    const { root, write, folders } = definitionProject({ after });
    write("project/.tutti/agents/good.md", agentText("good"));
    const broken = write("project/.tutti/agents/broken.md", "---\nname: broken\nmax_turns: no\n---\nb");
    write("project/.tutti/agents/bytes.md", "");
    writeFileSync(join(root, "project/.tutti/agents/bytes.md"), Buffer.from([0x2d, 0xff, 0xfe]));
    symlinkSync("/nowhere/at/all.md", join(root, "project/.tutti/agents/lost.md"));
    const loaded = await loadDefinitions(folders);
    assert.deepEqual(Object.keys(instructionsOf(loaded)), ["good"]);
    assert.ok(loaded.problems.some(({ file, line }) => file === broken && line === 3));
    assert.ok(loaded.problems.some(({ message }) => /UTF-8/.test(message)));
    assert.ok(loaded.problems.some(({ file, level }) => file.endsWith("lost.md") && level === "error"));
  });

  test("in a project that is the home itself are loaded once", () => {
    assert.equal(definitionFolders({ project: "/home/x", home: "/home/x" }).length, 2);
  });
});
