import assert from "node:assert/strict";
import { test } from "node:test";

import { failsWith } from "../../../test/support/try-tool.ts";
import { RpcError } from "./connection.ts";
import { type AskAgent, openSession } from "./open-session.ts";
import { Profiles } from "./profile.ts";

const { scripted } = Profiles.parse({ scripted: { command: ["agent"] } });
const launch = {
  name: "scripted",
  profile: scripted ?? assert.fail(),
  model: undefined,
  folder: { cwd: "/w", roots: ["/w"] },
  home: "/h",
  sandbox: { confined: false, reason: "a test", advice: "none" },
  hidden: [],
  toolchains: [],
} as const;

/** An agent that says it can load sessions, and then cannot. */
const forgetful: AskAgent = async (method, _, schema) => {
  if (method === "initialize") return schema.parse({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
  if (method === "session/new") return schema.parse({ sessionId: "s-2" });
  throw new RpcError(-32603, "Internal error");
};

test("an agent that cannot take its session up again leaves an unknown outcome, and says so", async () => {
  const opened = openSession(forgetful, { launch, earlier: "s-1", now: () => 0 });
  await assert.rejects(opened, failsWith("outcome_unknown", /Internal error; part of its work may have been done/));
  const fresh = await openSession(forgetful, { launch, earlier: null, now: () => 0 });
  assert.partialDeepStrictEqual(fresh, { session: "s-2", load: true, resumed: false });
});

test("a session whose mode is not told is put into the one in which it asks the most, or is not begun", async () => {
  const { asking } = Profiles.parse({ asking: { command: ["agent"], mode: "ask" } });
  const wanted = { launch: { ...launch, profile: asking ?? assert.fail() }, earlier: "s-1", now: () => 0 };
  const set: unknown[] = [];
  const silent =
    (knowsModes: boolean): AskAgent =>
    async (method, params, schema) => {
      if (method === "initialize")
        return schema.parse({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
      if (method !== "session/set_mode") return schema.parse(null);
      if (!knowsModes) throw new RpcError(-32601, "Method not found");
      set.push(params);
      return schema.parse({});
    };
  assert.partialDeepStrictEqual(await openSession(silent(true), wanted), { mode: "ask", resumed: true });
  assert.deepEqual(set, [{ sessionId: "s-1", modeId: "ask" }]);
  await assert.rejects(openSession(silent(false), wanted), failsWith("refused", /cannot be put into the mode ask/));
});
