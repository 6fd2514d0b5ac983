import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

import { stateFolder } from "./state-folder.ts";

test("the folder is the one given, then the one in the environment, then one in the home folder", (t) => {
  const before = process.env["TUTTI_STATE"];
  t.after(() => {
    if (before === undefined) delete process.env["TUTTI_STATE"];
    else process.env["TUTTI_STATE"] = before;
  });
  process.env["TUTTI_STATE"] = "/from/environment";
  assert.equal(stateFolder("given"), resolve("given"));
  assert.equal(stateFolder(undefined), "/from/environment");
  process.env["TUTTI_STATE"] = "";
  assert.equal(stateFolder(undefined), join(homedir(), ".tutti"), "an empty variable is not set");
  assert.throws(() => stateFolder(""), { code: "usage" });
  delete process.env["TUTTI_STATE"];
  assert.equal(stateFolder(undefined), join(homedir(), ".tutti"));
});
