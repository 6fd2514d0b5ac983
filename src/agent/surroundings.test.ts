import assert from "node:assert/strict";
import { test } from "node:test";

import { type WorldOptions, world } from "../../test/support/agent-kit.ts";
import { recorded, solo } from "../../test/support/recording-model.ts";
import { type Surroundings, surroundingsText } from "./surroundings.ts";

const found: Surroundings = {
  folder: "/home/ann/garden",
  date: "2026-01-05",
  platform: "linux 6.1, x64",
  git: { branch: "main", commit: "0123456789abcdef0123456789abcdef01234567" },
  notes: { file: "AGENTS.md", text: "Use tabs.\n", isCut: false },
};

test("everything is told, or only what is wanted", () => {
  assert.equal(
    surroundingsText(found),
    "# Where you work\n\nWorking folder: /home/ann/garden\nToday's date: 2026-01-05\nPlatform: linux 6.1, x64\n" +
      "Git: branch main, commit 0123456789ab\n\n# Notes of the project, from AGENTS.md\n\nUse tabs.",
  );
  assert.equal(surroundingsText(found, ["date"]), "# Where you work\n\nToday's date: 2026-01-05");
  assert.equal(surroundingsText(found, ["notes"]), "# Notes of the project, from AGENTS.md\n\nUse tabs.");
  assert.equal(surroundingsText(found, []), "");
  const cut = { ...found, git: null, notes: { file: "AGENTS.md", text: "Use", isCut: true } };
  assert.match(surroundingsText(cut), /Git: not a repository[^]*The rest of AGENTS\.md was left out/);
});

const rules = [
  { turn: 0, call: [{ tool: "echo", args: { text: "x" } }] },
  { turn: 1, say: "done" },
];

test("the agent's system prompt says where it works, the same in every turn", async (t) => {
  const { sent, model } = recorded();
  let looks = 0;
  const environment: WorldOptions["environment"] = {
    lookAround: async (folder) => ({ ...found, folder, date: `2026-01-0${(looks += 1)}` }),
  };
  const w = await world(t, { model, environment });
  const file = { ...solo(rules), roots: ["."] };
  await w.scalar(file);
  assert.equal(sent.length, 2);
  assert.equal(looks, 1);
  for (const { system } of sent) {
    assert.ok(system.endsWith(surroundingsText({ ...found, folder: w.folder, date: "2026-01-01" })), system);
  }
});

test("an agent that may touch no folder, or turned it off, is told nothing", async (t) => {
  const { sent, model } = recorded();
  const w = await world(t, { model, environment: { lookAround: async () => found } });
  await w.scalar(solo(rules));
  await w.scalar({ ...solo(rules, { surroundings: [] }), roots: ["."] });
  assert.equal(sent.length, 4);
  for (const { system } of sent) assert.doesNotMatch(system, /Where you work/);
});
