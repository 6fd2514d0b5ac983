// The programs in examples/library run in a clone as their page says, and print what they show.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";

const folder = join(import.meta.dirname, "..", "examples", "library");

const printed: Readonly<Record<string, RegExp>> = {
  "first-agent.ts": /looks at the weather of Oslo\nwear a warm coat\n$/,
  "tools-and-approval.ts":
    /pay 20 EUR\?\npaid 20 EUR for A-17.*\n.*2000 EUR\?\nrefused: .*too much\nYou get 20 EUR back\.\n$/,
  "fan-out.ts": /^8 points for: Snow.*\nSnow.*\nfailed: .*no connection\n24 points in all\n$/,
  "workflow-with-a-crash.ts":
    /^looks up what is owed\nsends: Dear customer …\nthe first process ended with SIGKILL\nbooks 120 EUR\nAnn was billed 120 EUR\n$/,
  "thread-in-a-web-server.ts":
    /dead\. -> Is it plugged in\?\n.*too\. -> Is it plugged in\?\n.*No\. -> Then plug it in\.\n4 messages with ann\n$/,
  "mcp.ts": /^mcp__clock__time: .*It is noon in Lima\..*\nNoon\.\n$/,
  "own-model.ts": /^The tool says 42\n32 tokens in 3 steps\n$/,
  "test-an-agent.ts": /pass 2\b[\s\S]*fail 0\b/,
};

describe("every example of the library", { concurrency: 2 }, () => {
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".ts"))) {
    test(name, async () => {
      const args = ["--conditions=tutti-clone", join(folder, name)];
      // A test that runs tests would otherwise be taken for a part of this one.
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
      assert.match(stdout, printed[name] ?? /this example has no expectation/);
    });
  }
});
