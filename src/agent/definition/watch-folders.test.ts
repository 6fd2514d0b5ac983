import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { until } from "../../../test/support/wait-until.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { definitionFolders, type LoadedDefinitions } from "./agent-folders.ts";
import { watchDefinitions } from "./watch-folders.ts";

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

describe("watched agents", () => {
  test("follow a file that is made, changed and removed, in folders that were not there before", async () => {
    const { root, write, folders } = newProject();
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
    const { write, folders } = newProject();
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
    const { write, folders } = newProject();
    let calls = 0;
    const watched = await watchDefinitions(folders, () => (calls += 1));
    watched.close();
    write("project/.tutti/agents/a.md", agent("a"));
    await sleep(400);
    assert.equal(calls, 0);
    assert.deepEqual(watched.current().agents, []);
  });
});
