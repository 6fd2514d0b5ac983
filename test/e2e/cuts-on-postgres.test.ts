// The cuts with a few interruptions of a node over PostgreSQL.

import assert from "node:assert/strict";
import { test } from "node:test";

import { postgresPrograms } from "../support/postgres-server.ts";
import { cuts } from "./cuts.ts";

const skip = postgresPrograms() === undefined ? "PostgreSQL is not installed" : false;

test(
  "invariants 3, 8, 9, 13 on PostgreSQL: kills, stops, drops and takeovers lose nothing, double nothing, hang nothing",
  { skip },
  async () => {
    const first = ["kill", "stop", "socket", "kill", "takeover", "stop"] as const;
    const { tally, problems, figures } = await cuts({ cuts: 8, seed: 1, onPostgres: true, first });
    assert.deepEqual(problems, []);
    const clean = { lost: 0, doubled: 0, unfinished: 0, out_of_order: 0 };
    assert.deepEqual({ ...tally, tasks: 0 }, { cuts: 8, tasks: 0, ...clean });
    const met = ["answers taken", "results taken", "progress kept", "hook_before", "spawn"];
    const missed = met.filter((what) => (figures[what] ?? 0) === 0);
    assert.deepEqual(missed, [], `the cuts hit work under way: ${JSON.stringify(figures)}`);
    assert.ok(tally.tasks > 15, JSON.stringify(figures));
  },
);
