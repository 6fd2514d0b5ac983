// What the process tells of its limits: those of the user's config, and the defaults for the rest.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { ServiceSetup } from "../../protocol/api/service.ts";
import { defaultBudget } from "../../protocol/task/budget.ts";
import { describeSetup } from "./describe-setup.ts";

test("the limits are those of the user's config, with defaults where it says nothing, and no secret is told", async (t) => {
  const home = tempFolder(t, "tutti-home-");
  const { HOME } = process.env;
  process.env["HOME"] = home;
  t.after(() => (process.env["HOME"] = HOME));
  const { limits: defaults } = ServiceSetup.parse(await describeSetup({ state: home }));
  assert.deepEqual(
    [defaults.budget, defaults.slots, defaults.workspaces, defaults.sessions],
    [defaultBudget, 64, { max_bytes: null, keep_days: null }, { idle_after_ms: null, max_failures: 3 }],
  );
  assert.deepEqual(defaults.setup_cache, { max_bytes: 5 * 2 ** 30, keep_days: 30 });
  assert.ok((defaults.min_free_bytes ?? 0) > 0);

  mkdirSync(join(home, ".tutti"), { mode: 0o700 });
  const config = {
    workspaces: { max_size: "1.5G", keep_days: 14, cache_size: 0, cache_days: 2 },
    sessions: { idle_after: "2h", max_failures: 5 },
    limits: { money_per_day: 5 },
  };
  writeFileSync(join(home, ".tutti", "tutti.config.json"), JSON.stringify(config));
  process.env["OPENAI_API_KEY"] ??= "sk-of-this-test";
  const secret = process.env["OPENAI_API_KEY"];
  if (secret === "sk-of-this-test") t.after(() => delete process.env["OPENAI_API_KEY"]);
  const setup = ServiceSetup.parse(await describeSetup({ state: home, minFreeBytes: 1_000 }));
  assert.deepEqual(setup.limits, {
    budget: defaultBudget,
    slots: 64,
    day: { tokens: null, money_micro_usd: 5_000_000 },
    min_free_bytes: 1_000,
    workspaces: { max_bytes: 1_610_612_736, keep_days: 14 },
    setup_cache: { max_bytes: 0, keep_days: 2 },
    sessions: { idle_after_ms: 7_200_000, max_failures: 5 },
  });
  assert.ok(!JSON.stringify(setup).includes(secret));
});
