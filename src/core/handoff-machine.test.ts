import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/properties.ts";
import { defaultPolicy } from "../protocol/routing/default-policy.ts";
import type { Handoff } from "../protocol/routing/handoff.ts";
import type { Policy } from "../protocol/routing/policy.ts";
import {
  advanceHandoff,
  handoffLimits,
  newHandoffState,
  type HandoffEvent,
  type HandoffState,
} from "./handoff-machine.ts";

type Step = ReturnType<typeof advanceHandoff>;

const policy: Policy = {
  ...defaultPolicy,
  policy: { router: "R", info: "I", build: "B", escalate_to: "E", conf_threshold: 0.85 },
};
/** As most policies have it: the router is who is escalated to. */
const oneRouter: Policy = { ...policy, policy: { ...policy.policy, escalate_to: "R" } };

const handoff: Handoff = {
  task_id: "t-1",
  from_model: "manager",
  to_model: "B",
  objective: "Write the parser",
  scope: "code_change",
  constraints: ["none"],
  current_state: "s",
  artifact_refs: ["src/a.ts"],
  expected_output: {},
  acceptance_criteria: ["green"],
  risks: ["none"],
  fallback_triggers: ["none"],
  conf: 0.9,
  assumptions_made: ["none"],
  open_questions: ["none"],
  failed_checks: ["none"],
};
const { conf: _, ...unsure } = handoff;
const envelope = (changes: Handoff = {}, hash = "h1"): HandoffEvent => ({
  type: "envelope",
  handoff: { ...handoff, ...changes },
  hash,
});
const worked: HandoffEvent = { type: "worked" };
const pass: HandoffEvent = { type: "verified", outcome: "pass", evidence: [] };
const fail: HandoffEvent = { type: "verified", outcome: "fail", evidence: ["mismatch in line 3"] };
const reviewed = (gate: string, conf?: number): HandoffEvent => ({
  type: "reviewed",
  review: { review: { gate, required: ["a test"], findings: ["no test"], ...(conf === undefined ? {} : { conf }) } },
  hash: "r1",
});

/** The last step; the ones before it must all have changed something. */
function run(events: readonly HandoffEvent[], by: Policy = policy): Step {
  let state = newHandoffState;
  let step: Step | undefined;
  for (const event of events) {
    step = advanceHandoff(by, state, event);
    assert.ok(step.transition, `${event.type} changed nothing while ${state.phase}`);
    state = step.state;
  }
  assert.ok(step);
  return step;
}

test("a failed check that must pass goes back once to whoever did the work, also when the task was escalated", () => {
  const mustPass = { ...fail, mustPass: true } as const;
  const escalated = [envelope({ conf: 0.5 }), worked];
  const again = run([...escalated, mustPass]).next;
  assert.deepEqual(again, { do: "work", model: "E", evidence: ["mismatch in line 3"], criteria: [] });
  assert.equal(run([...escalated, fail]).next.do, "decide", "of another check the router decides");
  assert.equal(run([...escalated, mustPass, worked, mustPass]).next.do, "decide", "once");
  assert.equal(run([envelope(), worked, mustPass]).state.worker, "B");
});

test("whoever is routed to does the work, and checked work without risk is done", () => {
  const first = run([envelope()]);
  assert.deepEqual(first.next, { do: "work", model: "B", evidence: [], criteria: [] });
  assert.deepEqual(first.transition, {
    from: "received",
    to: "working",
    hash: "h1",
    decision: "route",
    reason: "handoff destination honored",
  });
  assert.deepEqual(run([envelope(), worked]).next, { do: "verify" });
  assert.equal(run([envelope(), worked, pass]).state.phase, "done");
  assert.deepEqual(run([envelope({ to_model: "x", scope: "triage" })]).next, {
    do: "work",
    model: "R",
    evidence: [],
    criteria: [],
  });
});

test("an escalated task is worked on by escalate_to and reviewed by the router", () => {
  const events = [envelope({ risks: ["security"] }), worked, pass];
  assert.equal(run(events.slice(0, 1)).state.turn, "E");
  assert.deepEqual(run(events).next, { do: "review", model: "R", missing: [] });
});

test("the router's own work is reviewed by another, if there is one", () => {
  const events = [envelope({ to_model: "R" }), worked, pass];
  assert.deepEqual(run(events, { ...policy, review: "always" }).next, { do: "review", model: "E", missing: [] });
  assert.deepEqual(run(events, { ...oneRouter, review: "always" }).next, { do: "review", model: "B", missing: [] });
});

test("a handoff with fields missing is repaired once by the router, then the task fails", () => {
  const bad = envelope({ scope: "", objective: "" });
  const first = run([bad]);
  assert.deepEqual(first.next, {
    do: "repair",
    model: "R",
    problem: "missing required handoff fields: objective, scope",
    fields: ["objective", "scope"],
  });
  assert.equal(run([bad, envelope()]).state.phase, "working");
  assert.equal(run([bad, bad]).state.phase, "failed");
});

test("a reply that cannot be read counts as an envelope that cannot be routed", () => {
  const noise: HandoffEvent = { type: "unreadable", problem: "handoff is empty", hash: "h0" };
  assert.equal(run([noise]).state.phase, "repairing");
  assert.equal(run([noise, noise]).state.phase, "failed");
});

test("a missing confidence is asked of the sender, not filled in", () => {
  const step = run([{ type: "envelope", handoff: unsure, hash: "h1" }]);
  assert.deepEqual(step.next, {
    do: "repair",
    model: "manager",
    problem: "missing required handoff fields: conf",
    fields: ["conf"],
  });
});

test("the policy may ask a person or fail instead of repairing", () => {
  const by = (if_conflict_or_missing: Policy["gate"]["if_conflict_or_missing"]): Policy => ({
    ...policy,
    gate: { ...policy.gate, if_conflict_or_missing },
  });
  const bad = envelope({ scope: "" });
  const torn = envelope({ failed_checks: ["they conflict"] });
  assert.equal(run([bad], by("ask")).state.phase, "needs_human");
  assert.equal(run([bad], by("fail")).state.phase, "failed");
  assert.equal(run([torn], by("ask")).state.phase, "needs_human");
  assert.equal(run([torn], by("fail")).state.phase, "failed");
  assert.equal(run([torn], by("reroute_to_router")).state.turn, "E");
});

test("failed verification goes to the builder once, then to the router, its evidence apart from the envelope", () => {
  const once = run([envelope(), worked, fail]);
  assert.deepEqual(once.next, { do: "work", model: "B", evidence: ["mismatch in line 3"], criteria: [] });
  const twice = run([envelope(), worked, fail, worked, fail]);
  assert.deepEqual(twice.next, {
    do: "decide",
    model: "R",
    reason: "verification failed",
    evidence: ["mismatch in line 3"],
  });
});

test("a model that has every role gets its second try as the builder, too", () => {
  const roles = { router: "B", info: "B", build: "B", escalate_to: "B" };
  const alone: Policy = { ...policy, policy: { ...policy.policy, ...roles } };
  assert.equal(run([envelope({ to_model: "B" }), worked, fail], alone).state.phase, "working");
  assert.equal(run([envelope({ to_model: "B" }), worked, fail, worked, fail], alone).state.phase, "deciding");
});

test("work that broke off is treated as work that failed its checks", () => {
  const stuck: HandoffEvent = { type: "stuck", evidence: ["crashed"] };
  assert.equal(run([envelope(), stuck]).state.phase, "working");
  assert.equal(run([envelope(), stuck, stuck]).state.phase, "deciding");
});

test("a task given to the router on purpose does not fall to the builder when it fails", () => {
  assert.equal(run([envelope({ risks: ["privacy"] }), worked, fail]).state.phase, "deciding");
  assert.equal(run([envelope({ to_model: "R" }), worked, fail]).state.phase, "deciding");
});

test("the policy may send a failure to the router at once, to a person, or end it", () => {
  const by = (if_test_failure: Policy["gate"]["if_test_failure"]): Policy => ({
    ...policy,
    gate: { ...policy.gate, if_test_failure },
  });
  const events = [envelope(), worked, fail];
  assert.equal(run(events, by("reroute_to_router")).state.phase, "deciding");
  assert.deepEqual(run(events, by("ask")).next, {
    do: "ask_human",
    reason: "verification failed",
    evidence: ["mismatch in line 3"],
  });
  assert.equal(run(events, by("fail")).state.phase, "failed");
});

test("the router decides: a new envelope, giving up, or a person", () => {
  const deciding = [envelope(), worked, fail, worked, fail];
  assert.equal(run([...deciding, envelope({}, "h2")]).transition?.hash, "h2");
  assert.equal(run([...deciding, { type: "abandoned", reason: "no use" }]).state.phase, "abandoned");
  assert.equal(run([...deciding, { type: "escalated", reason: "your call" }]).state.phase, "needs_human");
});

test("a handoff that would escalate to its own sender goes to a person", () => {
  assert.equal(run([envelope({ from_model: "E", conf: 0.2 })]).state.phase, "needs_human");
  const deciding = [envelope(), worked, fail, worked, fail];
  const disguised = envelope({ from_model: "manager", risks: ["security"] });
  assert.equal(run([...deciding, disguised], oneRouter).state.phase, "needs_human");
  assert.equal(run([...deciding, disguised]).state.turn, "E");
});

test("an envelope the router only repaired is still its sender's, and may escalate to the router", () => {
  const step = run([envelope({ scope: "" }), envelope({ risks: ["security"] })], oneRouter);
  assert.deepEqual([step.state.phase, step.state.turn], ["working", "R"]);
});

test("a worker may pass its task on, and may not escalate it to itself", () => {
  assert.equal(run([envelope({ to_model: "I" }), envelope({ from_model: "I" }, "h2")]).state.turn, "B");
  const risky = envelope({ risks: ["privacy"] });
  assert.equal(run([risky, risky]).state.phase, "needs_human");
});

const toReview = [envelope({ risks: ["breaks login"] }), worked, pass];

test("a revision goes back to who did the work, with what the review requires as criteria", () => {
  const step = run([...toReview, reviewed("revise")]);
  assert.deepEqual(step.next, { do: "work", model: "B", evidence: ["no test"], criteria: ["a test"] });
});

test("after two revisions the router decides", () => {
  const again = [reviewed("revise"), worked, pass];
  assert.equal(run([...toReview, ...again, ...again, reviewed("revise")]).state.phase, "deciding");
});

test("a review that approves ends the task; one that is unsure, unclear or unreadable does not", () => {
  assert.equal(run([...toReview, reviewed("approve", 0.9)]).state.phase, "done");
  assert.equal(run([...toReview, reviewed("approve", 0.82)]).state.phase, "deciding");
  assert.equal(run([...toReview, reviewed("approve | revise | escalate", 1)]).state.phase, "deciding");
  assert.equal(run([...toReview, { type: "unreadable", problem: "x", hash: "r" }]).state.phase, "deciding");
});

test("the threshold of the handoff holds for its review too", () => {
  const events = [envelope({ risks: ["breaks login"], confidence_threshold: 0.88 }), worked, pass];
  assert.equal(run([...events, reviewed("approve", 0.87)]).state.phase, "deciding");
});

test("a reviewer that approves without a confidence is asked once", () => {
  const asked = run([...toReview, reviewed("approve")]);
  assert.deepEqual(asked.next, { do: "review", model: "R", missing: ["conf"] });
  assert.equal(run([...toReview, reviewed("approve"), reviewed("approve", 0.9)]).state.phase, "done");
  assert.equal(run([...toReview, reviewed("approve"), reviewed("approve")]).state.phase, "deciding");
});

test("when the hops are used up a person is asked", () => {
  const round = [envelope(), { type: "escalated", reason: "stuck" } as const];
  const events = Array.from({ length: handoffLimits.hops / 2 }, () => round).flat();
  assert.equal(run(events).state.phase, "deciding");
  const step = run([...events, envelope()]);
  assert.equal(step.state.phase, "needs_human");
  assert.match(step.transition?.reason ?? "", /after 8 hops/);
});

test("a late or repeated event changes nothing and is told so", () => {
  const { state } = run([envelope(), worked]);
  assert.deepEqual(advanceHandoff(policy, state, worked), {
    state,
    next: { do: "nothing", reason: '"worked" changes nothing while verifying' },
  });
});

test("work that nothing proves goes to a person, who accepts it, wants another try or gives it up", () => {
  const done = run([envelope(), worked, pass]);
  const asked = advanceHandoff(policy, done.state, { type: "unproven", reason: "nothing proves it" });
  assert.deepEqual([asked.state.phase, asked.next.do], ["needs_human", "ask_human"]);
  const answers = (["accept", "give_up", "retry"] as const).map((answer) =>
    advanceHandoff(policy, asked.state, { type: "answered", answer, note: "use tabs" }),
  );
  assert.deepEqual(
    answers.map(({ state }) => state.phase),
    ["done", "abandoned", "working"],
  );
  const again = answers[2];
  assert.deepEqual(again?.next, { do: "work", model: done.state.worker, evidence: [], criteria: ["use tabs"] });
  assert.equal(again?.state.counters.hops, 1, "the allowance is whole again");
});

const envelopes = fc.record(
  {
    from_model: fc.constantFrom("manager", "R", "E", "B"),
    to_model: fc.constantFrom("R", "I", "B", "E", "x"),
    scope: fc.constantFrom("code_change", "docs", "triage", "security", "misc", ""),
    failed_checks: fc.constantFrom<string[]>(["none"], ["conflict"], []),
    risks: fc.constantFrom<string[]>(["none"], ["breaks login"]),
    conf: fc.constantFrom(0.9, 0.2, 7),
  },
  { requiredKeys: [] },
);
const events: fc.Arbitrary<HandoffEvent> = fc.oneof(
  { weight: 3, arbitrary: envelopes.map((changes) => envelope(changes)) },
  { weight: 1, arbitrary: fc.constant<HandoffEvent>({ type: "unreadable", problem: "x", hash: "h" }) },
  { weight: 3, arbitrary: fc.constant(worked) },
  { weight: 1, arbitrary: fc.constant<HandoffEvent>({ type: "stuck", evidence: [] }) },
  { weight: 3, arbitrary: fc.constantFrom(pass, fail, { ...pass, outcome: "none" } as HandoffEvent) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(reviewed("revise"), reviewed("approve"), reviewed("approve", 0.9), reviewed("?")),
  },
  { weight: 1, arbitrary: fc.constant<HandoffEvent>({ type: "escalated", reason: "x" }) },
  { weight: 1, arbitrary: fc.constant<HandoffEvent>({ type: "abandoned", reason: "x" }) },
);
const gates = fc.record({
  if_conflict_or_missing: fc.constantFrom("reroute_to_router", "reroute_to_router", "ask", "fail"),
  if_test_failure: fc.constantFrom("reroute_to_builder_once_then_router", "reroute_to_router", "ask", "fail"),
}) as fc.Arbitrary<Partial<Policy["gate"]>>;
const settings = fc
  .tuple(fc.constantFrom(policy, oneRouter), gates, fc.constantFrom("always", "risk", "never"))
  .map(([base, gate, review]): Policy => ({
    ...base,
    gate: { ...base.gate, ...gate },
    review: review as Policy["review"],
  }));

const terminal: readonly HandoffState["phase"][] = ["done", "failed", "abandoned", "needs_human"];
/** Between two hops lie at most working → verifying → reviewing, one question in all, and the end. */
const mostTransitions = handoffLimits.hops * 3 + handoffLimits.questions + 1;

test("whatever happens in whatever order, a task ends within its bounds and stays ended", () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(settings, fc.infiniteStream(events), (by, stream) => {
      let state: HandoffState = newHandoffState;
      let transitions = 0;
      let afterwards = 0;
      for (const event of stream) {
        const step = advanceHandoff(by, state, event);
        if (terminal.includes(state.phase)) {
          afterwards += 1;
          if (afterwards > 20) break;
        }
        if (step.transition === undefined) {
          assert.equal(step.next.do, "nothing");
          assert.equal(step.state, state);
          continue;
        }
        assert.ok(!terminal.includes(state.phase), "a terminal phase changed");
        assert.equal(step.transition.from, state.phase);
        assert.equal(step.transition.to, step.state.phase);
        assert.notEqual(step.transition.reason, "");
        assert.equal(terminal.includes(step.state.phase), ["end", "ask_human"].includes(step.next.do));
        state = step.state;
        transitions += 1;
        reached.add(state.phase);
        assert.ok(transitions <= mostTransitions, `${transitions} transitions`);
        for (const [counter, count] of Object.entries(state.counters)) {
          assert.ok(count <= handoffLimits[counter as keyof typeof handoffLimits], `${counter} is ${count}`);
        }
      }
    }),
    { numRuns: 400 },
  );
  assert.deepEqual([...reached].toSorted(), [
    "abandoned",
    "deciding",
    "done",
    "failed",
    "needs_human",
    "repairing",
    "reviewing",
    "verifying",
    "working",
  ]);
});

test("a transition carries the hash of what caused it, and the state that of the handoff in force", () => {
  const step = run([...toReview, reviewed("revise")]);
  assert.deepEqual([step.transition?.hash, step.state.hash], ["r1", "h1"]);
  assert.equal(run([...toReview]).transition?.hash, "h1");
  const repairing = run([envelope(), envelope({ scope: "" }, "h2")]);
  assert.deepEqual([repairing.transition?.hash, repairing.state.hash], ["h2", "h1"]);
});

test("no task is done without passing what the policy asks for", () => {
  fc.assert(
    fc.property(settings, fc.array(events, { maxLength: 60 }), (by, sequence) => {
      let state: HandoffState = newHandoffState;
      for (const event of sequence) {
        const step = advanceHandoff(by, state, event);
        if (step.transition?.to === "done") {
          const approved =
            event.type === "reviewed" && event.review.review.gate === "approve" && event.review.review.conf === 0.9;
          const checked = event.type === "verified" && event.outcome !== "fail" && by.review !== "always";
          assert.ok(approved || checked, JSON.stringify(event));
        }
        state = step.state;
      }
    }),
    { numRuns: 300 },
  );
});

test("whoever gets the task is given with the models to try next", () => {
  const listed: Policy = { ...policy, fallbacks: { build: ["B2"], router: ["R2"], escalate_to: ["E2"] } };
  const next = (events: readonly HandoffEvent[]) => {
    const step = run(events, listed).next;
    return "model" in step ? [step.do, step.model, step.fallback_models] : [step.do];
  };
  assert.deepEqual(next([envelope()]), ["work", "B", ["B2"]]);
  assert.deepEqual(next([envelope({ conf: 0.1 })]), ["work", "E", ["E2"]]);
  assert.deepEqual(next([envelope(), worked, fail, worked, fail]), ["decide", "R", ["R2"]]);
  assert.ok(!("fallback_models" in run([envelope()]).next));
});
