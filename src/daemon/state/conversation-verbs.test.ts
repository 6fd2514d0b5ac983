import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { verbCatalogue } from "../../core/verb-catalogue.ts";
import type { GoalControl } from "../../manager/conversation/conversation-deps.ts";
import { openKit } from "../../../test/support/http-kit.ts";
import { conversationControls } from "./conversation-verbs.ts";

const context = { person: { kind: "person", name: "Ada" }, folder: "/srv/shop", key: "k1" } as const;

/** Two goals, and what was done with goals. */
async function withGoals(t: TestContext) {
  const kit = await openKit();
  t.after(() => kit.close());
  const done: unknown[] = [];
  const goals: GoalControl = {
    list: async () => [
      { id: "gol_b2", text: "Translate the basket page", status: "done", at: 2 },
      { id: "gol_a1", text: "Fix the empty basket", status: "blocked", at: 1 },
    ],
    get: async (goal) => ({ goal }),
    async start(wanted) {
      done.push(wanted);
      return { goal: "gol_c3" };
    },
    async message(goal, text) {
      done.push([goal, text]);
    },
    report: async (goal) => (goal === "gol_a1" ? "the check npm test failed" : ""),
  };
  const controls = conversationControls(Promise.resolve({ client: kit.state.client, goals }));
  return { done, controls, verbs: await controls.verbs() };
}

test("no verb is advertised that nothing carries out", async (t) => {
  const { verbs } = await withGoals(t);
  assert.deepEqual(Object.keys(verbs).toSorted(), Object.keys(verbCatalogue).toSorted());
});

test("a goal is started in the folder of the conversation, under the key of the step", async (t) => {
  const { verbs, done } = await withGoals(t);
  await verbs["goals.start"]({ text: "add a search field" }, context);
  assert.deepEqual(done, [{ text: "add a search field", accept: [], folder: "/srv/shop", key: "k1" }]);
  await assert.rejects(verbs["goals.start"]({ text: "x" }, { ...context, folder: undefined }), { code: "refused" });
});

test("goals are listed by status and told things", async (t) => {
  const { verbs, done } = await withGoals(t);
  assert.equal(JSON.stringify(await verbs["goals.list"]({ status: "blocked" }, context)).includes("gol_b2"), false);
  await verbs["goals.message"]({ goal: "gol_a1", text: "use npm ci" }, context);
  assert.deepEqual(done, [["gol_a1", "use npm ci"]]);
});

test("earlier goals are recalled by text and report, and at the beginning of a turn by the person's words alone", async (t) => {
  const { verbs, controls } = await withGoals(t);
  assert.match(JSON.stringify(await verbs.recall({ words: "npm test" }, context)), /gol_a1.*blocked.*failed/);
  assert.deepEqual(await controls.recallGoals("what about the basket?"), [
    { id: "gol_b2", text: "Translate the basket page", status: "done" },
    { id: "gol_a1", text: "Fix the empty basket", status: "blocked" },
  ]);
  assert.deepEqual(await controls.recallGoals("did npm fail?"), []);
});

test("without a manager, verbs about goals say so", async (t) => {
  const kit = await openKit();
  t.after(() => kit.close());
  const verbs = await conversationControls(Promise.resolve({ client: kit.state.client })).verbs();
  await assert.rejects(async () => verbs["goals.list"]({}, context), { code: "refused" });
});
