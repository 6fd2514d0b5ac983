import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../../test/support/wait-until.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { definitionFolders, loadDefinitions, type LoadedDefinitions } from "./agent-folders.ts";
import { watchDefinitions } from "./watch-folders.ts";

const base = tempFolder({ after });

function place() {
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
    const { write, folders } = place();
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
    const { root, write, folders } = place();
    write("project/.claude/agents/web/front/x.md", agent("x"));
    write("project/.claude/agents/notes.txt", "no");
    write("project/.claude/agents/.draft.md", agent("draft"));
    const elsewhere = write("elsewhere.md", agent("linked"));
    symlinkSync(elsewhere, join(root, "project/.claude/agents/linked.md"));
    assert.deepEqual(Object.keys(bodies(await loadDefinitions(folders))), ["linked", "x"]);
  });

  test("that cannot be read are problems with their file, and the others are there", async () => {
    const { root, write, folders } = place();
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

describe("watched agents", () => {
  test("follow a file that is made, changed and removed, in folders that were not there before", async () => {
    const { root, write, folders } = place();
    const seen: LoadedDefinitions[] = [];
    const watched = await watchDefinitions(folders, (loaded) => seen.push(loaded));
    try {
      assert.deepEqual(watched.current().agents, []);
      write("project/.tutti/agents/a.md", agent("a", "one"));
      await until(() => bodies(watched.current())["a"] === "one");
      write("project/.tutti/agents/a.md", agent("a", "two"));
      await until(() => bodies(watched.current())["a"] === "two");
      // As many editors do it: beside, then over.
      renameSync(write("project/.tutti/agents/a.tmp", agent("a", "three")), join(root, "project/.tutti/agents/a.md"));
      await until(() => bodies(watched.current())["a"] === "three");
      rmSync(join(root, "project/.tutti"), { recursive: true });
      await until(() => watched.current().agents.length === 0);
      write("project/.tutti/agents/deep/b.md", agent("b", "back"));
      await until(() => bodies(watched.current())["b"] === "back");
      assert.equal(seen.at(-1), watched.current());
    } finally {
      watched.close();
    }
  });

  test("that break keep their last good definition and say so, until they are whole again", async () => {
    const { write, folders } = place();
    const file = write("project/.claude/agents/a.md", agent("a", "good"));
    const watched = await watchDefinitions(folders, () => undefined);
    try {
      write("project/.claude/agents/a.md", "---\nname: a\nmax_turns: lots\n---\nbad");
      await until(() => watched.current().problems.length > 0);
      assert.deepEqual(bodies(watched.current()), { a: "good" });
      assert.deepEqual(
        watched.current().problems.map(({ file: at, level }) => [at, level]),
        [
          [file, "error"],
          [file, "warning"],
        ],
      );
      assert.match(watched.current().problems[1]?.message ?? "", /the earlier definition of a stays in use/);
      write("project/.claude/agents/a.md", agent("a", "better"));
      await until(() => bodies(watched.current())["a"] === "better");
      assert.deepEqual(watched.current().problems, []);
    } finally {
      watched.close();
    }
  });

  test("are left alone once they are closed", async () => {
    const { write, folders } = place();
    let calls = 0;
    const watched = await watchDefinitions(folders, () => (calls += 1));
    watched.close();
    write("project/.tutti/agents/a.md", agent("a"));
    await sleep(400);
    assert.equal(calls, 0);
    assert.deepEqual(watched.current().agents, []);
  });
});
