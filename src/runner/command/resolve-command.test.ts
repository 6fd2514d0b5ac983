import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { environmentOf, programOf, workdirOf } from "./resolve-command.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tutti-place-")));
const root = join(folder, "root");
mkdirSync(join(root, "inner"), { recursive: true });
mkdirSync(join(folder, "rooted"));
symlinkSync(root, join(folder, "link"));
symlinkSync(folder, join(root, "out"));
symlinkSync(join(root, "inner"), join(root, "in"));
writeFileSync(join(root, "file"), "");
writeFileSync(join(root, "program"), "#!/bin/sh\n");
chmodSync(join(root, "program"), 0o755);
const within = (roots: readonly string[]) => ({ roots, offLimits: [] });
after(() => rmSync(folder, { recursive: true }));

test("a command runs in the first root when nothing is said", async () => {
  assert.equal(await workdirOf(undefined, within([root, "/"])), root);
});

test("a relative folder is one of the first root, and links inside are followed", async () => {
  assert.equal(await workdirOf("inner", within([root])), join(root, "inner"));
  assert.equal(await workdirOf("in", within([root])), join(root, "inner"));
});

test("a root that is itself a link allows what it leads to", async () => {
  assert.equal(await workdirOf(undefined, within([join(folder, "link")])), root);
});

for (const [what, workdir] of [
  ["an absolute path elsewhere", "/"],
  ["dots that lead out", ".."],
  ["a link that leads out", "out"],
  ["a folder whose name only begins like a root", "../rooted"],
] as const) {
  test(`${what} is refused`, async () => {
    await assert.rejects(workdirOf(workdir, within([root])), { code: "refused", message: /outside/ });
  });
}

test("a task without roots cannot run a command, and is told so", async () => {
  await assert.rejects(workdirOf(undefined, within([])), { code: "refused", message: /give it a root/ });
});

test("a folder that is not there, and one that is a file, are named", async () => {
  await assert.rejects(workdirOf("nowhere", within([root])), { code: "not_found", message: /nowhere.*ENOENT/ });
  await assert.rejects(workdirOf("file", within([root])), { code: "invalid_input", message: /not a folder/ });
});

test("only the allowed names of our environment are passed on, and what is given wins", () => {
  process.env["TUTTI_TEST_SECRET"] = "s";
  process.env["LC_TUTTI"] = "l";
  const env = environmentOf({ env: { HOME: "/given", OWN: "1" }, env_allow: ["HOME", "LC_*"] });
  delete process.env["TUTTI_TEST_SECRET"];
  delete process.env["LC_TUTTI"];
  assert.equal(env["HOME"], "/given");
  assert.equal(env["LC_TUTTI"], "l");
  assert.deepEqual(
    Object.keys(env).filter((name) => !name.startsWith("LC_")),
    ["HOME", "OWN"],
  );
});

test("a program is found in the PATH of the command, or by its path from the folder it runs in", async () => {
  assert.equal(await programOf("program", "/", { PATH: `/nowhere:${root}` }), join(root, "program"));
  assert.equal(await programOf("./program", root, {}), join(root, "program"));
});

test("a program that is not there or may not be run is an error before anything is started", async () => {
  await assert.rejects(programOf("no-such", root, { PATH: "/usr/bin" }), {
    code: "not_found",
    message: /no-such in the PATH/,
  });
  await assert.rejects(programOf("./no-such", root, {}), { code: "not_found", message: /at .*root\/no-such/ });
  await assert.rejects(programOf("./file", root, {}), { code: "refused", message: /not executable/ });
  await assert.rejects(programOf("./inner", root, {}), { code: "not_found" });
});
