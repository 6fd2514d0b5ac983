// Whole invocations over a real engine and a real SQLite file: every way to combine the axes, and the defects we do not have.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { runInvocation } from "./run-invocation.ts";
import { agentEnvironment } from "../agent-environment.ts";
import { TaskInput, treeFile } from "./task-input.ts";
import type { Runner } from "../../ports.ts";
import { adhoc, all, detached, named, single } from "../../protocol/invocation/invocation-builders.ts";
import type { ContextScope, Invocation, Join } from "../../protocol/invocation/invocation.ts";
import { messageText } from "../../protocol/task/message.ts";
import { maxHandovers } from "../../protocol/task/max-handovers.ts";
import { led, leadOf, person, worker } from "../../../test/support/lead-and-worker.ts";
import { idOf, world } from "../../../test/support/agent-kit.ts";
import { until } from "../../../test/support/wait-until.ts";

const echoRunner: Runner = async (durable, config) => ({ ran: durable.agent, config, input: durable.input });
const remote = {
  kind: "force" as const,
  type: "remote" as const,
  runner: { kind: "elsewhere", config: { image: "x" } },
};
const elsewhere = {
  runners: { elsewhere: echoRunner },
  environment: { runners: [{ kind: "elsewhere", runtime: "cloud" }] },
};

for (const context of ["independent", "inherited"] as const) {
  for (const mode of ["single", "all", "detached"] as const) {
    for (const place of ["auto", "local", "remote"] as const) {
      test(`from outside: ${context} × ${mode} × ${place} runs and answers in the shape of its join`, async (t) => {
        const w = await world(t, elsewhere);
        const targets = mode === "single" ? [named("worker", "a")] : [named("worker", "a"), named("worker", "b")];
        const executor =
          place === "auto" ? { kind: "auto" } : place === "local" ? { kind: "force", type: "local" } : remote;
        const root = await w.start({
          invocation: { targets, context, join: mode, executor },
          agents: { worker },
          script: { rules: [{ say: "done: {{user}}" }] },
        });
        const { content, status } = await w.engine.result(root);
        assert.equal(status, "completed");
        const result = content as { kind: string; result?: unknown; results?: unknown[]; task_ids?: string[] };
        const children = w.tree(root).slice(1);
        if (mode === "detached") {
          assert.deepEqual(result, { kind: "task_ids", task_ids: children.map((child) => child.id) });
        } else {
          const results = mode === "single" ? [result.result] : result.results;
          assert.equal(result.kind, mode === "single" ? "scalar" : "vector");
          const said = place === "remote" ? undefined : ["done: a", "done: b"];
          assert.deepEqual(
            results?.map((each) => (each as { task_id: string }).task_id),
            children.map((child) => child.id),
          );
          if (said !== undefined) {
            assert.deepEqual(
              results?.map((each) => (each as { content: unknown }).content),
              said.slice(0, targets.length),
            );
          }
        }
        await w.engine.idle();
        const kinds = w.store.tree(idOf(root)).slice(1);
        assert.ok(kinds.every((row) => row.kind === (place === "remote" ? "elsewhere" : "local")));
        assert.ok(kinds.every((row) => row.detached === (mode === "detached")));
      });
    }
  }
}

for (const mode of ["single", "all", "detached"] as const) {
  test(`from outside: shared × ${mode} is refused, since there is no task to take over`, async (t) => {
    const w = await world(t);
    const file = { invocation: { targets: [named("worker", "a")], context: "shared", join: mode }, agents: { worker } };
    const error = await w.refused(file);
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, /there is no calling task/);
  });
}

const conversation = [
  {
    id: "m1",
    name: null,
    role: "user" as const,
    created_at: 1,
    parts: [{ part_type: "text" as const, data: "the wall is red" }],
  },
  {
    id: "m2",
    name: null,
    role: "assistant" as const,
    created_at: 2,
    parts: [
      { part_type: "text" as const, data: "calling" },
      { part_type: "tool_call" as const, data: { tool_call_id: "orphan", tool_name: "invoke_agent", input: {} } },
    ],
  },
];

/** Makes an invocation from inside its own task, as an agent's loop would. */
function caller(invocation: Invocation): Runner {
  return async (durable) => {
    if (durable.run > 1) return { handed: TaskInput.parse(durable.input).handed?.message, agent: durable.agent };
    const file = treeFile(durable.rootInput);
    const environment = agentEnvironment(elsewhere.environment);
    const input: TaskInput = {
      agent: { type: "named", agent_id: "lead" },
      message: conversation[0] ?? assert.fail(),
      tools: "*",
      context: "independent",
    };
    const made = {
      file,
      environment,
      rights: durable.rights,
      offeredTools: "*" as const,
      agent: { id: "lead", definition: worker, input },
      now: 5,
    };
    return runInvocation(durable, "call", invocation, { caller: made, history: conversation });
  };
}

async function fromInside(t: TestContext, invocation: Invocation) {
  const run = caller(invocation);
  const w = await world(t, { ...elsewhere, runners: { ...elsewhere.runners, calling: run } });
  const file = {
    invocation: single(named("lead", "x")),
    agents: { lead: worker, worker },
    script: { rules: [{ say: "done: {{user}}" }] },
  };
  const { task } = await w.engine.start({ ...w.taskOf(file), runner: { kind: "calling", config: {} } });
  const result = await w.engine.result(task);
  await w.engine.idle();
  return { w, task, result };
}

const executors = { auto: { kind: "auto" }, local: { kind: "force", type: "local" }, remote } as const;

for (const context of ["independent", "inherited", "shared"] as const satisfies readonly ContextScope[]) {
  for (const join_ of ["single", "all", "detached"] as const satisfies readonly Join[]) {
    for (const place of ["auto", "local", "remote"] as const) {
      const forbidden = context === "shared" && (join_ === "detached" || place === "remote");
      test(`from a task: ${context} × ${join_} × ${place} ${forbidden ? "is refused" : "works"}`, async (t) => {
        const targets =
          join_ === "single" || context === "shared"
            ? [named("worker", "a")]
            : [named("worker", "a"), named("worker", "b")];
        const invocation: Invocation = {
          targets,
          context,
          join: join_,
          executor: executors[place],
          tools: { kind: "inherit" },
        };
        const { w, task, result } = await fromInside(t, invocation);
        const children = w.tree(task).slice(1);
        if (forbidden) {
          assert.equal(result.status, "failed");
          assert.match(
            (result.content as { message: string }).message,
            join_ === "detached" ? /cannot be detached/ : /cannot run remotely/,
          );
          assert.equal(children.length, 0);
        } else if (context === "shared") {
          assert.equal(result.status, "completed");
          assert.equal((result.content as { agent: string }).agent, "worker");
          assert.equal(children.length, 0, "a handover makes no task");
          assert.equal(
            w.events(task).filter((event) => /^task\.(completed|failed|canceled)$/.test(event.type)).length,
            1,
          );
        } else {
          assert.equal(result.status, "completed", JSON.stringify(result));
          assert.equal(children.length, targets.length);
          assert.ok(children.every((child) => child.depth === 1));
        }
      });
    }
  }
}

test("shared takes exactly one named target", async (t) => {
  const two = { ...all([named("worker", "a"), named("worker", "b")]), context: "shared" as const };
  assert.match(((await fromInside(t, two)).result.content as { message: string }).message, /takes exactly one target/);
  const made = { ...single(adhoc("be brief", "a")), context: "shared" as const };
  assert.match(((await fromInside(t, made)).result.content as { message: string }).message, /needs a named agent/);
});

test("single with two targets, no target and blank names are refused before any child exists", async (t) => {
  const w = await world(t);
  for (const invocation of [
    { targets: [named("worker", "a"), named("worker", "b")] },
    { targets: [] },
    single(named("  ", "a")),
    single(adhoc(" ", "a")),
    single(named("worker", "  ")),
  ]) {
    const root = await w.start({ invocation, agents: { worker } });
    assert.equal((await w.engine.result(root)).status, "failed");
    assert.equal(w.tree(root).length, 1);
  }
});

test("an unknown agent or runner is an error before any child exists, even in the last of many targets", async (t) => {
  const w = await world(t, elsewhere);
  const good = named("worker", "a");
  const nobody = await w.refused({ invocation: detached([good, good, named("nobody", "a")]), agents: { worker } });
  assert.match(nobody.message, /there is no agent nobody; there are: worker/);
  const nowhere = { kind: "force", type: "remote", runner: { kind: "moon", config: {} } };
  const root = await w.start({
    invocation: { ...detached([good, { ...good, executor: nowhere as never }]) },
    agents: { worker },
  });
  const { content } = await w.engine.result(root);
  assert.match((content as { message: string }).message, /there is no runner "moon".*available runners: elsewhere/);
  assert.equal(w.tree(root).length, 1);
});

test("auto sends an agent where its runtimes allow, and refuses when nothing has them", async (t) => {
  const w = await world(t, elsewhere);
  const agents = { cloud: { ...worker, runtimes: ["cloud"] }, phone: { ...worker, runtimes: ["phone"] } };
  const there = await w.scalar({ invocation: single(named("cloud", "a")), agents });
  assert.equal((there.content as { ran: string }).ran, "cloud");
  const error = await w.refused({ invocation: single(named("phone", "a")), agents });
  assert.match(error.message, /nothing here can run this agent: the agent runs in phone/);
});

test("a forced local executor is not decided again, whatever runtimes the agent has", async (t) => {
  const w = await world(t, elsewhere);
  const agents = { cloud: { ...worker, runtimes: ["cloud"] } };
  const invocation = { ...single(named("cloud", "a")), executor: { kind: "force", type: "local" } };
  const { content } = await w.scalar({ invocation, agents, script: { rules: [{ say: "here" }] } });
  assert.equal(content, "here");
});

test("a target's executor replaces the invocation's, and the runner gets its config, message and ad-hoc prompt", async (t) => {
  const w = await world(t, elsewhere);
  const target = adhoc("count to three", "go", { executor: remote });
  const { content } = await w.scalar({ invocation: { ...single(target), executor: { kind: "force", type: "local" } } });
  const ran = content as { config: unknown; input: TaskInput };
  assert.deepEqual(ran.config, { image: "x" });
  assert.equal(messageText(ran.input.message), "go");
  assert.deepEqual(ran.input.agent, { type: "ad_hoc", system_prompt: "count to three" });
});

test("all keeps every result in input order: a failing child neither hides nor stops its siblings (invariant 5)", async (t) => {
  const w = await world(t);
  const result = await w.invoke({
    invocation: all([named("worker", "bad"), named("worker", "slow"), named("worker", "quick")]),
    agents: { worker },
    script: {
      rules: [
        { last: "bad", fail: { code: "io", message: "the line is dead", retry: "never" } },
        { last: "slow", delay_ms: 60, say: "slow done" },
        { last: "quick", say: "quick done" },
      ],
    },
  });
  assert.equal(result.kind, "vector");
  const results = result.kind === "vector" ? result.results : [];
  assert.deepEqual(
    results.map((each) => each.status),
    ["failed", "completed", "completed"],
  );
  assert.match(JSON.stringify(results[0]?.content), /the line is dead/);
  assert.deepEqual(
    results.slice(1).map((each) => each.content),
    ["slow done", "quick done"],
  );
});

test("all with one target is a vector of one", async (t) => {
  const w = await world(t);
  const result = await w.invoke({
    invocation: all([named("worker", "a")]),
    agents: { worker },
    script: { rules: [{ say: "x" }] },
  });
  assert.equal(result.kind === "vector" && result.results.length, 1);
});

test("detached ids are addressable at once, counted in tree and budget, and outlive the root's result", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: detached([named("worker", "a"), named("worker", "b")]),
    agents: { worker },
    script: { rules: [{ delay_ms: 40, say: "later" }] },
  });
  const { content } = await w.engine.result(root);
  const ids = (content as { task_ids: string[] }).task_ids;
  assert.equal(w.tree(root).length, 3);
  const results = await Promise.all(ids.map((id) => w.engine.result(id)));
  assert.deepEqual(
    results.map((each) => each.content),
    ["later", "later"],
  );
});

test("detached is all or none: one target over the limit of tasks and none is made", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: detached([named("worker", "a"), named("worker", "b"), named("worker", "c")]),
    agents: { worker },
    budget: { tasks: 3 },
  });
  const asked = await until(() => w.waits(root)[0]);
  assert.equal(asked.body.ask?.kind, "budget");
  assert.equal(w.tree(root).length, 1);
  await w.engine.deliver(asked.id, { kind: "budget", go_on: false }, person);
  assert.equal((await w.engine.result(root)).status, "failed");
  assert.equal(w.tree(root).length, 1);
});

test("cancelling the root ends every live descendant, detached ones too, and nothing overwrites that (invariant 4)", async (t) => {
  const w = await world(t);
  const root = await w.start({
    invocation: all([named("lead", "a"), named("lead", "b")]),
    agents: { lead: worker, worker },
    script: {
      rules: [
        {
          agent: "lead",
          turn: 0,
          delegate: [
            { agent: "worker", prompt: "x", mode: "background" },
            { agent: "worker", prompt: "y" },
          ],
        },
        { agent: "worker", delay_ms: 60_000, say: "never" },
      ],
    },
  });
  await until(() => w.tree(root).length === 7);
  const canceled = await w.engine.cancel(root, "enough");
  assert.equal(canceled.length, 7);
  await w.engine.idle();
  for (const { id } of w.tree(root)) {
    assert.equal((await w.engine.result(id)).status, "canceled");
    assert.equal(w.events(id).filter((event) => /^task\.(completed|failed|canceled)$/.test(event.type)).length, 1);
  }
});

test("inherited shows the caller's conversation without the call that dispatched it, under new ids, stored once", async (t) => {
  const seen: { agent: string; ids: string[]; calls: number; text: string }[] = [];
  const { rehearsalModel } = await import("../../model/rehearsal/rehearsal-model.ts");
  const w = await world(t, {
    model: (file) => {
      const model = rehearsalModel(file.script);
      return {
        estimate: (request) => model.estimate(request),
        call(request, options) {
          const parts = request.messages.flatMap((message) => message.parts);
          seen.push({
            agent: request.agent,
            ids: request.messages.map((message) => message.id),
            calls: parts.filter((part) => part.part_type === "tool_call").length,
            text: request.messages.map((message) => messageText(message)).join("|"),
          });
          return model.call(request, options);
        },
      };
    },
  });
  const file = led({
    delegate: [
      { agent: "worker", prompt: "one" },
      { agent: "worker", prompt: "two" },
    ],
  });
  const root = await w.start({ ...file, agents: { ...file.agents, worker: { ...worker, context: "inherited" } } });
  await w.engine.result(root);
  const workers = seen.filter((each) => each.agent === "worker");
  assert.deepEqual(workers.map((each) => each.text).toSorted(), [
    "go|The plan is blue.|one",
    "go|The plan is blue.|two",
  ]);
  assert.ok(workers.every((each) => each.calls === 0));
  const ids = workers.flatMap((each) => each.ids);
  assert.equal(new Set(ids).size, ids.length, "no message id is used twice");
  const shared = w.store
    .tree(idOf(root))
    .slice(2)
    .map((row) => row.shared);
  assert.ok(shared[0] !== null && shared.every((each) => each === shared[0]), "one snapshot for all");
});

test("independent shows nothing but the message; ad-hoc prompts are appended to the base, overlays to the definition", async (t) => {
  const systems: string[] = [];
  const { rehearsalModel } = await import("../../model/rehearsal/rehearsal-model.ts");
  const w = await world(t, {
    model: (file) => {
      const model = rehearsalModel(file.script);
      return {
        estimate: (request) => model.estimate(request),
        call: (request, options) => (
          systems.push(`${request.messages.length}:${request.system}`),
          model.call(request, options)
        ),
      };
    },
  });
  await w.invoke({
    invocation: all([adhoc("Answer in rhyme.", "a"), named("worker", "b", { overlay: "Be quick." })]),
    agents: { worker },
    script: { rules: [{ say: "ok" }] },
  });
  assert.match(systems[0] ?? "", /^1:You do one task .*`final`.*\n\nAnswer in rhyme\.$/s);
  assert.equal(systems[1], "1:You work.\n\nBe quick.");
});

test("handover: same task, next agent, one terminal event, the conversation goes on and the dispatching call is gone", async (t) => {
  const w = await world(t);
  const file = led(
    { call: [{ tool: "handover", args: { agent: "worker", prompt: "take it", reason: "tired" } }] },
    { handover: ["worker"] },
  );
  const root = await w.start(file);
  const { content } = await w.engine.result(root);
  const lead = leadOf(w, root);
  assert.deepEqual((content as { result: unknown }).result, {
    content: "done: take it",
    task_id: lead,
    status: "completed",
  });
  assert.equal(w.tree(root).length, 2);
  const types = w.events(lead).map((event) => event.type);
  assert.equal(types.filter((type) => type === "task.handed_over").length, 1);
  assert.equal(types.filter((type) => /^task\.(completed|failed|canceled)$/.test(type)).length, 1);
  assert.deepEqual(
    w.messages(lead).map((message) => `${message.role}:${messageText(message)}`),
    ["assistant:The plan is blue.", "user:take it", "assistant:done: take it"],
  );
});

test("handover stops after eight hops and the agent is told", async (t) => {
  const w = await world(t);
  const agents = { a: { ...worker, handover: ["b"] }, b: { ...worker, handover: ["a"] } };
  const root = await w.start({
    invocation: single(named("a", "go")),
    agents,
    script: {
      rules: [
        { last: "handed over 8 times", say: "{{last}}" },
        { call: [{ tool: "handover", args: { agent: "b" } }], agent: "a" },
        { call: [{ tool: "handover", args: { agent: "a" } }], agent: "b" },
      ],
    },
  });
  const { content } = await w.engine.result(root);
  assert.match(JSON.stringify(content), /handed over 8 times already/);
  const hops = w.events(leadOf(w, root)).filter((event) => event.type === "task.handed_over");
  assert.equal(hops.length, maxHandovers);
});

test("handover goes only to the agents the definition lists", async (t) => {
  const w = await world(t);
  const { content } = await w.scalar(
    led({ call: [{ tool: "handover", args: { agent: "lead" } }] }, { handover: ["worker"] }),
  );
  assert.match(String(content), /may not hand over to lead, only to: worker/);
  const none = await w.scalar(led({ call: [{ tool: "handover", args: { agent: "worker" } }] }));
  assert.match(String(none.content), /you may not use handover/);
});
