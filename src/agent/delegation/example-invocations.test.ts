// The examples run as they stand.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { commandRunner } from "../../runner/command/runner.ts";
import { readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { world } from "../../../test/support/agent-kit.ts";
import { until } from "../../../test/support/wait-until.ts";

const folder = join(import.meta.dirname, "../../../examples/invocations");
const person = { kind: "person" as const, name: "ana" };

const expected: Record<string, RegExp> = {
  "all.json": /"North: snow\."(.*)"South: quiet\."(.*)"Plains\."(.*)"status":"failed"/,
  "ask.json": /"content":"Ordered\."/,
  "command.json": /"exit_code":0(.*)"stdout":"\s*3\\n"/,
  "detached.json": /"kind":"task_ids","task_ids":\["tsk_\w+","tsk_\w+"\]/,
  "external.json": /"content":"Take a coat\."/,
  "handover.json": /"content":"The lamp works again\."/,
  "single.json": /"content":"hello\.txt is written\."/,
  "supervise.json": /"content":"The checker says: All is well, checked in haste\."/,
};

test("every example is known here", () => {
  assert.deepEqual(readdirSync(folder).toSorted(), Object.keys(expected).toSorted());
});

for (const [name, result] of Object.entries(expected)) {
  test(`examples/invocations/${name} runs to its result`, async (t) => {
    const reading = readInvocationFile(readFileSync(join(folder, name), "utf8"));
    assert.ok(reading.ok, JSON.stringify(reading));
    assert.deepEqual(reading.warnings, []);
    const w = await world(t, {
      runners: { command: commandRunner() },
      environment: { runners: [{ kind: "command", runtime: "command" }] },
    });
    const root = await w.start(reading.file);
    let ended = false;
    const ending = w.engine.result(root).finally(() => (ended = true));
    const answered = new Set<string>();
    await until(() => {
      for (const { id, body } of w.waits(root)) {
        if (answered.has(id)) continue;
        answered.add(id);
        const kind = body.ask?.kind;
        const answer =
          kind === undefined
            ? { sky: "rain" }
            : kind === "approval"
              ? { kind, approved: true }
              : { kind, value: "red" };
        void w.engine.deliver(id, answer, person);
      }
      return ended;
    });
    assert.match(JSON.stringify((await ending).content), result);
    await w.engine.idle();
  });
}
