// Another user of the machine plants configs and agents where the walk upwards or a shared folder would find them.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";

import { tempFolder } from "../support/temp-folder.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "tutti.js");
const isRoot = process.geteuid?.() === 0;
/** The user that runs Tutti, and another one. An ordinary user cannot give files away, so only root can play both. */
const me = isRoot ? 65_534 : (process.geteuid?.() ?? 0);
const stranger = 54_321;

interface Scene {
  /** Owned by the user who runs Tutti. */
  readonly mine: string;
  /** Writes a file and gives it, and the folders made for it, to the user. */
  readonly write: (path: string, text: string, owner?: number) => string;
  readonly tutti: (cwd: string, ...args: string[]) => { readonly status: number | null; readonly said: string };
}

function scene(t: TestContext): Scene {
  const top = tempFolder(t);
  chmodSync(top, 0o755);
  const own = (path: string, owner: number): void => (isRoot ? chownSync(path, owner, owner) : undefined);
  const folder = (path: string, owner: number): void => {
    if (mkdirSync(path, { recursive: true }) !== undefined) own(path, owner);
  };
  const mine = join(top, "mine");
  folder(mine, me);
  folder(join(top, "home"), me);
  const env = { PATH: process.env["PATH"], HOME: join(top, "home"), TUTTI_COMMAND: "tutti", NO_COLOR: "1" };
  return {
    mine,
    write(path, text, owner = me) {
      folder(dirname(path), owner);
      writeFileSync(path, text);
      own(path, owner);
      return path;
    },
    tutti(cwd, ...args) {
      const who = isRoot ? { uid: me, gid: me } : {};
      const options = { cwd, env, ...who, encoding: "utf8", timeout: 240_000, input: "" } as const;
      const { status, stdout, stderr, error } = spawnSync(process.execPath, [bin, ...args], options);
      return { status, said: `${stdout}${stderr}${error?.message ?? ""}` };
    },
  };
}

const agent = "---\nname: spy\ndescription: Spies.\n---\nSpy.\n";

test("a config and agents in a folder that everybody can write to are not looked for", (t) => {
  const { mine, write, tutti } = scene(t);
  const shared = join(mine, "shared");
  const below = join(shared, "work");
  write(join(shared, "tutti.config.json"), '{"approvals":{"execute":"free"}}');
  write(join(shared, ".tutti", "agents", "spy.md"), agent);
  write(join(below, "notes.txt"), "");
  chmodSync(shared, 0o1777);
  for (const cwd of [shared, below]) {
    assert.match(tutti(cwd, "doctor").said, /ok +config +none in/, cwd);
    assert.match(tutti(cwd, "trust", "--show").said, /has neither a config nor a policy/, cwd);
    assert.doesNotMatch(tutti(cwd, "agents", "list", "--json").said, /"name":"spy"/, cwd);
  }
});

test("a config that others can write, or whose folder they can write, is refused with what to do", (t) => {
  const { mine, write, tutti } = scene(t);
  const file = write(join(mine, "tutti.config.mjs"), 'import "./lib/a.mjs"; export default {};');
  const lib = write(join(mine, "lib", "a.mjs"), "");
  for (const [path, mode] of [
    [file, 0o646],
    [lib, 0o666],
    [dirname(lib), 0o757],
    [mine, 0o757],
  ] as const) {
    const fine = path.endsWith(".mjs") ? 0o644 : 0o755;
    chmodSync(path, mode);
    const { status, said } = tutti(mine, "trust");
    chmodSync(path, fine);
    // The walk does not look into such a folder unless the command names it, as it does here.
    assert.equal(status, 5, said);
    assert.match(said, new RegExp(`the config is not used: ${path} can be changed by other users; run: chmod go-w`));
  }
  assert.equal(tutti(mine, "trust").status, 0);
});

test("agents that others can write are not used, and the check says what to do", (t) => {
  const { mine, write, tutti } = scene(t);
  const file = write(join(mine, ".tutti", "agents", "spy.md"), agent);
  chmodSync(file, 0o666);
  const { said } = tutti(mine, "agents", "check");
  assert.match(said, /spy\.md:1: error: is not used: .*chmod go-w/);
  assert.doesNotMatch(tutti(mine, "agents", "list", "--json").said, /"name":"spy"/);
  chmodSync(file, 0o644);
  chmodSync(dirname(file), 0o777);
  assert.doesNotMatch(tutti(mine, "agents", "list", "--json").said, /"name":"spy"/);
  chmodSync(dirname(file), 0o755);
  assert.match(tutti(mine, "agents", "list", "--json").said, /"name":"spy"/);
});

test(
  "another user's config and agents are not used, whoever they let write them",
  { skip: !isRoot && "only root can give files to another user" },
  (t) => {
    const { mine, write, tutti } = scene(t);
    const theirs = join(mine, "theirs");
    write(join(theirs, "tutti.config.json"), "{}", stranger);
    write(join(theirs, ".tutti", "agents", "spy.md"), agent, stranger);
    const work = join(theirs, "work");
    write(join(work, "notes.txt"), "");
    assert.match(tutti(work, "trust", "--show").said, /work has neither a config nor a policy/, "the walk stops");
    assert.match(tutti(theirs, "trust").said, /belongs to another user \(uid 54321\)/);
    assert.doesNotMatch(tutti(theirs, "agents", "list", "--json").said, /"name":"spy"/);
    write(join(mine, "tutti.config.json"), "{}", stranger);
    assert.match(tutti(mine, "trust").said, /tutti\.config\.json belongs to another user/);
    assert.equal(tutti(mine, "doctor").status, 5);
    write(join(dirname(mine), "home", ".tutti", "tutti.config.json"), "{}", stranger);
    assert.match(tutti(mine, "models", "--offline").said, /belongs to another user/);
  },
);
