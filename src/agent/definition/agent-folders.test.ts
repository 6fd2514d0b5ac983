import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { definitionFolders, loadDefinitions, type LoadedDefinitions } from "./agent-folders.ts";

const base = tempFolder({ after });

function newProject() {
  const root = mkdtempSync(join(base, "p-"));
  const project = join(root, "project");
  const home = join(root, "home");
  mkdirSync(project);
  mkdirSync(home);
  const write = (path: string, text: string): string => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return { root, project, home, write, folders: definitionFolders({ project, home }) };
}

const agent = (name: string, body = "work"): string => `---\nname: ${name}\ndescription: d\n---\n${body}`;
const bodies = ({ agents }: LoadedDefinitions): Record<string, string> =>
  Object.fromEntries(agents.map(({ name, definition }) => [name, definition.instructions]));

describe("the agents of a project and its user", () => {
  test("come from four folders, the project's before the user's, and the first of a name wins with a warning", async () => {
    const { write, folders } = newProject();
    write("project/.tutti/agents/a.md", agent("a", "first"));
    const second = write("project/.claude/agents/a.md", agent("a", "second"));
    write("project/.claude/agents/b.md", agent("b", "project"));
    write("home/.tutti/agents/b.md", agent("b", "user"));
    write("home/.claude/agents/c.md", agent("c", "user"));
    const loaded = await loadDefinitions(folders);
    assert.deepEqual(bodies(loaded), { a: "first", b: "project", c: "user" });
    assert.deepEqual(
      loaded.agents.map(({ of }) => of),
      ["project", "project", "user"],
    );
    assert.equal(loaded.problems.length, 2);
    assert.equal(loaded.problems[0]?.file, second);
    assert.match(loaded.problems[0]?.message ?? "", /already, in .*\.tutti.agents.a\.md/);
  });

  test("may lie in folders of folders and behind a link; other files and hidden ones are not looked at", async () => {
    const { root, write, folders } = newProject();
    write("project/.claude/agents/web/front/x.md", agent("x"));
    write("project/.claude/agents/notes.txt", "no");
    write("project/.claude/agents/.draft.md", agent("draft"));
    const elsewhere = write("elsewhere.md", agent("linked"));
    symlinkSync(elsewhere, join(root, "project/.claude/agents/linked.md"));
    assert.deepEqual(Object.keys(bodies(await loadDefinitions(folders))), ["linked", "x"]);
  });

  test("that cannot be read are problems with their file, and the others are there", async () => {
    const { root, write, folders } = newProject();
    write("project/.tutti/agents/good.md", agent("good"));
    const broken = write("project/.tutti/agents/broken.md", "---\nname: broken\nmax_turns: no\n---\nb");
    write("project/.tutti/agents/bytes.md", "");
    writeFileSync(join(root, "project/.tutti/agents/bytes.md"), Buffer.from([0x2d, 0xff, 0xfe]));
    symlinkSync("/nowhere/at/all.md", join(root, "project/.tutti/agents/lost.md"));
    const loaded = await loadDefinitions(folders);
    assert.deepEqual(Object.keys(bodies(loaded)), ["good"]);
    assert.ok(loaded.problems.some(({ file, line }) => file === broken && line === 3));
    assert.ok(loaded.problems.some(({ message }) => /UTF-8/.test(message)));
    assert.ok(loaded.problems.some(({ file, level }) => file.endsWith("lost.md") && level === "error"));
  });

  test("in a project that is the home itself are loaded once", () => {
    assert.equal(definitionFolders({ project: "/home/x", home: "/home/x" }).length, 2);
  });
});
