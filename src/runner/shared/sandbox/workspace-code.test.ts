import assert from "node:assert/strict";
import { chmodSync, copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../../test/support/temp-folder.ts";
import { foreignProgram } from "./workspace-code.ts";

test("interpreters, scripts, and programs in the workspace count as code that a model could have written", async (t) => {
  const [workspace, elsewhere] = [tempFolder(t), tempFolder(t)];
  const at = (folder: string, name: string): string => join(folder, name);
  copyFileSync("/bin/true", at(workspace, "tool"));
  copyFileSync("/bin/true", at(elsewhere, "tool"));
  copyFileSync("/bin/true", at(elsewhere, "python3.12"));
  symlinkSync(at(workspace, "tool"), at(elsewhere, "link"));
  symlinkSync(at(elsewhere, "python3.12"), at(elsewhere, "harmless"));
  writeFileSync(at(elsewhere, "script"), "#!/bin/sh\n");
  chmodSync(at(elsewhere, "script"), 0o755);
  for (const path of [
    at(workspace, "tool"),
    ...["python3.12", "link", "harmless", "script", "absent"].map((name) => at(elsewhere, name)),
  ]) {
    assert.equal(await foreignProgram(path, [workspace]), undefined, path);
  }
  assert.equal(await foreignProgram(at(elsewhere, "tool"), [workspace]), at(elsewhere, "tool"));
});
