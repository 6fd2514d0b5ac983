import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { readConfigFiles } from "./config-files.ts";
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
