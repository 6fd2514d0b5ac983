import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { builtinTools } from "../agent-environment.ts";
import { runTool } from "../tools/run.ts";
import { sandboxCommands } from "../../runner/shared/sandbox/sandbox-commands.ts";
import { led, leadOf, person } from "../../../test/support/lead-and-worker.ts";
import { world } from "../../../test/support/agent-kit.ts";
import { until } from "../../../test/support/wait-until.ts";

const unconfined = runTool(sandboxCommands({ confined: false, reason: "", advice: "" }));
const environment = { tools: [...builtinTools, unconfined] };
const calls = [
  { tool: "write", args: { path: "first", content: "x" } },
  { tool: "run", args: { shell: "echo ran > second; echo out" } },
];

for (const approved of [true, false]) {
  test(`before a turn runs, an unconfined program is asked about: ${approved ? "a yes runs it" : "a no is told"}`, async (t) => {
    const w = await world(t, { environment });
    const root = await w.start({ ...led({ call: calls }), roots: ["."] });
    const ask = await until(() => w.waits(root)[0]);
    assert.match(
      ask.body.ask?.question ?? "",
      /^May lead run this program\? It reaches the network, and is not confined/,
    );
    assert.ok(!existsSync(join(w.folder, "first")));
    const answer = { kind: "approval", approved, ...(approved ? {} : { reason: "not here" }) };
    assert.deepEqual(await w.engine.deliver(ask.id, answer, person), { outcome: "accepted" });
    assert.equal((await w.engine.result(root)).status, "completed");
    assert.equal(readFileSync(join(w.folder, "first"), "utf8"), "x");
    assert.equal(existsSync(join(w.folder, "second")), approved);
    const told = JSON.stringify(w.toolResults(leadOf(w, root)));
    assert.match(told, approved ? /"exit_code":0,.*"stdout":"out\\n".*"confined":false/ : /"refused".*not here/);
  });
}
