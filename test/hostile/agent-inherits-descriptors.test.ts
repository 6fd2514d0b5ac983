// Tutti was started by a program that left a folder open, as some terminals and editors do. Through it, a confined program could write anywhere.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";

const status = await probeSandbox();
const skip = status.confined && status.by === "bubblewrap" ? false : "bubblewrap does not work here";
const from = (path: string): string => JSON.stringify(import.meta.resolve(path));

/** Beyond those that Node looks at by itself when it starts. */
const descriptor = 40;

test("a program has no folder that was open when Tutti was started, and writes nothing through it", { skip }, (t) => {
  const top = mkdtempSync(join(realpathSync(homedir()), ".tutti-open-"));
  t.after(() => rmSync(top, { recursive: true }));
  const [outside, root, aside] = ["outside", "root", "aside"].map((name) => join(top, name));
  assert.ok(outside !== undefined && root !== undefined && aside !== undefined);
  for (const each of [outside, root, aside]) mkdirSync(each);
  const shell = `echo x > /proc/self/fd/${descriptor}/written; ls -l /proc/self/fd`;
  const script = `
    import { runTool } from ${from("../../src/agent/tools/run.ts")};
    import { sandboxCommands } from ${from("../../src/runner/shared/sandbox/sandbox-commands.ts")};
    import { probeSandbox } from ${from("../../src/runner/shared/sandbox/sandbox-status.ts")};
    import { openGit } from ${from("../../src/workspace/own-git.ts")};
    import { testRepository } from ${from("../support/git-kit.ts")};
    import { tryTool } from ${from("../support/try-tool.ts")};
    const run = runTool(sandboxCommands(await probeSandbox(), { aside: ${JSON.stringify(aside)} }));
    console.log(await tryTool(run, { shell: ${JSON.stringify(shell)} }, [${JSON.stringify(root)}]));
    const cleanups = [];
    const { folder } = testRepository({ after: (each) => cleanups.push(each) });
    const git = await openGit(folder + "/.git");
    await git.text(["-c", ${JSON.stringify(`alias.try=!echo x > /proc/self/fd/${descriptor}/by-git || true`)}, "try"]);
    for (const each of cleanups) await each();`;
  const open = openSync(outside, "r");
  const unused = Array.from({ length: descriptor - 3 }, () => "ignore" as const);
  const ended = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "pipe", ...unused, open],
    encoding: "utf8",
    timeout: 240_000,
  });
  closeSync(open);
  assert.match(ended.stdout, /exit_code/, ended.stderr);
  assert.deepEqual(readdirSync(outside), [], ended.stdout);
});
