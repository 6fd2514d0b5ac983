import assert from "node:assert/strict";
import { test } from "node:test";

import { again, gate, type Loops, started, task, world } from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import type { TaskSnapshot } from "../protocol/invocation/invocation-result.ts";

test("a snapshot tells when the task began, and its runner's config without secrets", async (t) => {
  const secret = "sk-very-secret-0123456789";
  const config = { argv: ["deploy", secret], env: { TOKEN: "abc" }, registry: { password: "xyz", url: "here" } };
  const snapshots: TaskSnapshot[] = [];
  const [look, busy] = [gate(), gate()];
  const loops: Loops = {
    parent: async (d) => {
      const ids = await d.spawn("kids", [task("first"), task("second", { runner: { kind: "loop", config } })]);
      await d.step("wait", again, async () => (await look.opened, ""));
      snapshots.push(...(await d.snapshot("look", ids)));
      return d.join(ids);
    },
    first: (d) => d.step("wait", again, async () => (await busy.opened, "")),
    second: async () => "done",
  };
  const redact = (text: string): string => text.replaceAll(secret, "[removed]");
  const w = world(tempFolder(t), loops, { redact, slots: 2 });
  t.after(() => w.stop());
  const made = w.clock.now();
  const name = await started(w, "parent");
  await settle();
  w.clock.advance(1_000);
  busy.open();
  await settle();
  look.open();
  await w.engine.result(name);
  const [first, second] = snapshots;
  assert.deepEqual([first?.started_at, second?.started_at], [made, made + 1_000], "the second waited for a slot");
  assert.deepEqual(second?.executor, {
    type: "remote",
    runner: {
      kind: "loop",
      config: {
        argv: ["deploy", "[removed]"],
        env: { TOKEN: "(hidden)" },
        registry: { password: "(hidden)", url: "here" },
      },
    },
  });
});
