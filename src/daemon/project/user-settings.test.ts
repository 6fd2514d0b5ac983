import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { readConfigFiles } from "./config-files.ts";
import { dayLimitsOf } from "./limits-config.ts";
import { loadConfig } from "./project-config.ts";
import { loadUserConfig } from "./user-config.ts";

const made = {
  branch: "work/{task}/{attempt}",
  copy: [".env"],
  setup: [{ command: ["npm", "ci"], network: true, lock: ["package-lock.json"], makes: ["node_modules"] }],
  commits: "tutti",
};

const badSetups = [
  { lock: ["package-lock.json"] },
  { lock: ["package-lock.json"], makes: ["."] },
  { lock: ["package-lock.json"], makes: ["sub/.GIT/hooks"] },
].map((more) => ({ setup: [{ command: ["npm", "ci"], ...more }] }));

test("a project says how its workspaces are made, and not how much of the disk they take", async (t) => {
  const folder = tempFolder(t, "tutti-config-");
  const write = (workspaces: unknown): void =>
    writeFileSync(join(folder, "tutti.config.json"), JSON.stringify({ workspaces }));
  write(made);
  assert.deepEqual((await loadConfig(readConfigFiles(folder))).config.workspaces, made);
  for (const room of [{ root: "/tmp" }, { max_size: "1G" }, { keep_days: 1 }, { cache_size: 0 }, { cache_days: 1 }]) {
    write({ ...made, ...room });
    await assert.rejects(
      loadConfig(readConfigFiles(folder)),
      new RegExp(`workspaces.${Object.keys(room)[0]} is not for a project to set`),
    );
  }
  for (const bad of [
    { copy: ["../secrets"] },
    { copy: ["/etc/passwd"] },
    { branch: "one" },
    { setup: ["npm ci"] },
    ...badSetups,
  ]) {
    write(bad);
    await assert.rejects(loadConfig(readConfigFiles(folder)), /workspaces/);
  }
});

test("the user says where workspaces lie, how large they get and how long they stay", async (t) => {
  const home = tempFolder(t, "tutti-home-");
  mkdirSync(join(home, ".tutti"), { mode: 0o700 });
  const room = { root: "~/work", max_size: "1.5G", keep_days: 14 };
  writeFileSync(join(home, ".tutti", "tutti.config.json"), JSON.stringify({ workspaces: { ...room, ...made } }));
  const { workspaces } = await loadUserConfig(home);
  assert.deepEqual(workspaces, { ...room, max_size: 1_610_612_736, ...made });
});

test("only the user says when sessions are idle and when agents are held back", async (t) => {
  const home = tempFolder(t, "tutti-home-");
  const folder = join(home, ".tutti");
  mkdirSync(folder, { mode: 0o700 });
  const write = (sessions: unknown): void =>
    writeFileSync(join(folder, "tutti.config.json"), JSON.stringify({ sessions }));
  assert.deepEqual((await loadUserConfig(home)).sessions, { max_failures: 3 });
  write({ idle_after: "1.5h", max_failures: 0 });
  assert.deepEqual((await loadUserConfig(home)).sessions, { idle_after: 5_400_000, max_failures: 0 });
  await assert.rejects(loadConfig(readConfigFiles(folder)), /sessions is not for a project to set/);
  for (const bad of [{ idle_after: "soon" }, { idle_after: "90d" }, { max_failures: -1 }]) {
    write(bad);
    await assert.rejects(loadUserConfig(home), /sessions/);
  }
});

test("only the user says what a day may cost, in numbers that can be held", async (t) => {
  const home = tempFolder(t, "tutti-home-");
  const folder = join(home, ".tutti");
  mkdirSync(folder, { mode: 0o700 });
  const write = (limits: unknown): void => writeFileSync(join(folder, "tutti.config.json"), JSON.stringify({ limits }));
  assert.deepEqual((await loadUserConfig(home)).limits, {});
  write({ money_per_day: 5.25, tokens_per_day: 1_000_000 });
  const { limits } = await loadUserConfig(home);
  assert.deepEqual(dayLimitsOf(limits), { tokens: 1_000_000, money_micro_usd: 5_250_000 });
  await assert.rejects(loadConfig(readConfigFiles(folder)), /limits is not for a project to set/);
  const bad = [
    [{ money_per_day: -1 }, /limits.money_per_day: must be more than 0/],
    [{ money_per_day: 0 }, /limits.money_per_day: must be more than 0; leave it out for no cap/],
    [{ money_per_day: 0.0000001 }, /limits.money_per_day: must be at least 0.000001/],
    [{ money_per_day: "5" }, /limits.money_per_day/],
    [{ tokens_per_day: 1.5 }, /limits.tokens_per_day/],
    [{ tokens_per_day: 0 }, /limits.tokens_per_day: must be more than 0/],
    [{ money_a_day: 5 }, /limits/],
  ] as const;
  for (const [given, why] of bad) {
    write(given);
    await assert.rejects(loadUserConfig(home), why);
  }
  writeFileSync(join(folder, "tutti.config.json"), '{ "limits": { "money_per_day": 1e999 } }');
  await assert.rejects(loadUserConfig(home), /the number 1e999/);
});
