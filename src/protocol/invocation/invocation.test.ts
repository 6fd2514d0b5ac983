import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { all, adhoc, detached, named, single } from "./invocation-builders.ts";
import { Invocation, readInvocation } from "./invocation.ts";
import type { ExecutorHint } from "./executor.ts";

const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const hi = { role: "user", parts: [{ part_type: "text", data: "hi" }] };
const minimal = { targets: [{ agent: { type: "named", agent_id: "worker" }, message: hi }] };

function read(value: unknown): Invocation {
  const reading = readInvocation(value);
  assert.ok(reading.ok, JSON.stringify(reading));
  return reading.invocation;
}

test("the defaults are independent, single, auto and inherit", () => {
  const { context, join, executor, tools } = read(minimal);
  assert.deepEqual(
    { context, join, executor, tools },
    { context: "independent", join: "single", executor: { kind: "auto" }, tools: { kind: "inherit" } },
  );
});

test("writing always writes all five fields, and nothing for a target's absent executor", () => {
  assert.deepEqual(wire(read(minimal)), {
    targets: [{ agent: { type: "named", agent_id: "worker" }, message: { name: null, ...hi } }],
    context: "independent",
    join: "single",
    executor: { kind: "auto" },
    tools: { kind: "inherit" },
  });
});

test("a minimal invocation round-trips", () => {
  const invocation = single(named("worker", "hi"));
  assert.deepEqual(read(wire(invocation)), invocation);
});

test("an instructions overlay round-trips and is omitted when absent", () => {
  const withOverlay = single(named("worker", "hi", { overlay: "be brief" }));
  assert.deepEqual(read(wire(withOverlay)), withOverlay);
  assert.ok(!JSON.stringify(single(named("worker", "hi"))).includes("instructions_overlay"));
});

test("the older named shape without an overlay parses", () => {
  assert.deepEqual(read(minimal).targets[0]?.agent, { type: "named", agent_id: "worker" });
});

test("enumerations are written in snake case and an ad-hoc agent as ad_hoc", () => {
  const written = JSON.stringify(detached([adhoc("be a worker", "hi")]));
  for (const piece of ['"join":"detached"', '"context":"independent"', '"type":"ad_hoc"']) {
    assert.ok(written.includes(piece), piece);
  }
});

test("a forced remote executor lies flat and keeps its runner's config", () => {
  const executor: ExecutorHint = {
    kind: "force",
    type: "remote",
    runner: { kind: "sandbox", config: { image: "worker:latest" } },
  };
  const invocation = single(named("w", "hi"), { executor });
  assert.deepEqual(wire(invocation.executor), {
    kind: "force",
    type: "remote",
    runner: { kind: "sandbox", config: { image: "worker:latest" } },
  });
  assert.deepEqual(read(wire(invocation)), invocation);
});

test("a runner without config gets an empty one, and any JSON is accepted as config", () => {
  const forced = (runner: unknown) =>
    read({ ...minimal, executor: { kind: "force", type: "remote", runner } }).executor;
  assert.deepEqual(forced({ kind: "k8s" }), { kind: "force", type: "remote", runner: { kind: "k8s", config: {} } });
  assert.deepEqual(forced({ kind: "k8s", config: null }), {
    kind: "force",
    type: "remote",
    runner: { kind: "k8s", config: null },
  });
});

test("a target's message is the user's text", () => {
  const { message } = named("w", "hello");
  assert.deepEqual([message.role, message.parts], ["user", [{ part_type: "text", data: "hello" }]]);
});

test("options set context, executor and tools, and leave the rest alone", () => {
  const invocation = all([named("a", "x"), named("b", "y")], {
    context: "inherited",
    executor: { kind: "force", type: "local" },
    tools: { kind: "exact", tools: ["Bash"] },
  });
  assert.deepEqual(
    { ...invocation, targets: invocation.targets.length },
    {
      targets: 2,
      context: "inherited",
      join: "all",
      executor: { kind: "force", type: "local" },
      tools: { kind: "exact", tools: ["Bash"] },
    },
  );
});

test("an ad-hoc agent's tools and a target's executor are kept when given", () => {
  const tools = read({
    targets: [{ agent: { type: "ad_hoc", system_prompt: "p", tools: { builtin: ["read"] } }, message: hi }],
  }).targets[0]?.agent;
  assert.ok(tools?.type === "ad_hoc" && tools.tools !== undefined);
  const target = adhoc("p", "hi", { tools: tools.tools, executor: { kind: "auto" } });
  assert.deepEqual(read(wire(single(target))).targets[0], target);
});

test("unknown fields are ignored with a warning that names each path", () => {
  const reading = readInvocation({
    ...minimal,
    priority: 1,
    targets: [{ agent: { type: "named", agent_id: "w", nick: "x" }, message: { ...hi, mood: "good" }, retries: 3 }],
    executor: { kind: "auto", type: "local" },
  });
  assert.ok(reading.ok);
  assert.deepEqual(
    reading.warnings.map(({ path }) => path),
    ["targets[0].agent.nick", "targets[0].message.mood", "targets[0].retries", "priority", "executor.type"],
  );
  assert.deepEqual(wire(reading.invocation.targets[0]?.agent), { type: "named", agent_id: "w" });
});

test("unknown fields are found inside forced runners and inside the parts of a tool result", () => {
  const inner = { part_type: "text", data: "x", lang: "en" };
  const outer = { part_type: "tool_result", data: { tool_call_id: "c", tool_name: "t", parts: [inner], took: 3 } };
  const reading = readInvocation({
    targets: [{ agent: { type: "named", agent_id: "w" }, message: { role: "user", parts: [outer] } }],
    executor: { kind: "force", type: "remote", runner: { kind: "k8s", config: { any: { thing: 1 } }, zone: "b" } },
  });
  assert.ok(reading.ok);
  assert.deepEqual(
    reading.warnings.map(({ path }) => path),
    ["targets[0].message.parts[0].data.parts[0].lang", "targets[0].message.parts[0].data.took", "executor.runner.zone"],
  );
});

test("null on an optional field means absent, on a required or defaulted one it is refused", () => {
  const reading = readInvocation({
    targets: [{ agent: { type: "named", agent_id: "w", instructions_overlay: null }, message: hi, executor: null }],
  });
  assert.ok(reading.ok && reading.warnings.length === 0);
  assert.deepEqual(Object.keys(reading.invocation.targets[0] ?? {}), ["agent", "message"]);
  for (const bad of [{ ...minimal, join: null }, { targets: null }]) assert.equal(readInvocation(bad).ok, false);
});

test("a tools configuration refuses unknown fields and names them", () => {
  const reading = readInvocation({
    targets: [{ agent: { type: "ad_hoc", system_prompt: "p", tools: { bultin: ["final"] } }, message: hi }],
  });
  assert.ok(!reading.ok);
  assert.deepEqual(reading.issues, [{ path: "targets[0].agent.tools", message: 'Unrecognized key: "bultin"' }]);
});

test("what does not fit is refused with the path of each fault", () => {
  const paths = (value: unknown) => {
    const reading = readInvocation(value);
    return reading.ok ? [] : reading.issues.map(({ path }) => path);
  };
  assert.deepEqual(paths({}), ["targets"]);
  assert.deepEqual(paths({ ...minimal, join: "Single", context: "fork" }), ["context", "join"]);
  assert.deepEqual(paths({ targets: [{ agent: { type: "adhoc" }, message: hi }] }), ["targets[0].agent.type"]);
  assert.deepEqual(paths({ ...minimal, executor: { kind: "force" } }), ["executor.type"]);
  assert.deepEqual(paths([]), [""]);
});

test("a value nested without end is refused, not thrown on", () => {
  let part: unknown = { part_type: "text", data: "x" };
  for (let level = 0; level < 20_000; level += 1) {
    part = { part_type: "tool_result", data: { tool_call_id: "c", tool_name: "t", parts: [part] } };
  }
  const reading = readInvocation({
    targets: [{ agent: { type: "named", agent_id: "w" }, message: { role: "user", parts: [part] } }],
  });
  assert.ok(!reading.ok && reading.issues[0]?.message === "is nested too deeply");
});

test("a field named like a property of every object is an ordinary unknown field", () => {
  const value: unknown = JSON.parse(
    '{"targets":[],"__proto__":{"join":"all"},"constructor":1,"executor":{"kind":"auto"}}',
  );
  const reading = readInvocation(value);
  assert.ok(reading.ok);
  assert.equal(reading.invocation.join, "single");
  assert.deepEqual(
    reading.warnings.map(({ path }) => path),
    ["__proto__", "constructor"],
  );
});

const json = fc.jsonValue({ maxDepth: 3 });
const optional = <K extends string, T>(key: K, value: fc.Arbitrary<T>) =>
  fc.option(value, { nil: undefined }).map((given) => (given === undefined ? {} : { [key]: given }));
const merged = (...pieces: fc.Arbitrary<object>[]) =>
  fc.tuple(...pieces).map((objects) => Object.assign({}, ...objects) as object);
const runner = merged(fc.record({ kind: fc.string() }), optional("config", json));
const hint = fc.oneof(
  fc.constant({ kind: "auto" }),
  fc.constant({ kind: "force", type: "local" }),
  runner.map((given) => ({ kind: "force", type: "remote", runner: given })),
);
const leaf = fc.oneof(
  fc.string().map((data) => ({ part_type: "text", data })),
  json.map((data) => ({ part_type: "data", data })),
  fc
    .record({ tool_call_id: fc.string(), tool_name: fc.string(), input: json })
    .map((data) => ({ part_type: "tool_call", data })),
  merged(
    fc.record({ uri: fc.string() }),
    optional("text", fc.string()),
    optional(
      "meta",
      json.filter((value) => value !== null),
    ),
  ).map((data) => ({
    part_type: "resource_link",
    data,
  })),
);
const part = fc.oneof(
  leaf,
  fc
    .record({ tool_call_id: fc.string(), tool_name: fc.string(), parts: fc.array(leaf, { maxLength: 3 }) })
    .map((data) => ({ part_type: "tool_result", data })),
);
const message = merged(
  fc.record({
    role: fc.constantFrom("system", "assistant", "user", "tool", "developer"),
    parts: fc.array(part, { maxLength: 4 }),
  }),
  optional("id", fc.string()),
  optional("name", fc.option(fc.string())),
  optional("created_at", fc.integer()),
  optional("agent_id", fc.string()),
  optional("parts_metadata", fc.dictionary(fc.nat(20).map(String), merged(optional("save", fc.boolean())))),
);
const agent = fc.oneof(
  merged(
    fc.record({ type: fc.constant("named"), agent_id: fc.string() }),
    optional("instructions_overlay", fc.string()),
  ),
  merged(
    fc.record({ type: fc.constant("ad_hoc"), system_prompt: fc.string() }),
    optional("tools", merged(optional("builtin", fc.array(fc.string())), optional("external", fc.array(fc.string())))),
  ),
);
const target = merged(fc.record({ agent, message }), optional("executor", hint));
const invocation = merged(
  fc.record({ targets: fc.array(target, { maxLength: 4 }) }),
  optional("context", fc.constantFrom("independent", "inherited", "shared")),
  optional("join", fc.constantFrom("single", "all", "detached")),
  optional("executor", hint),
  optional(
    "tools",
    fc.oneof(
      fc.constant({ kind: "inherit" }),
      fc.constant({ kind: "none" }),
      fc.array(fc.string()).map((tools) => ({ kind: "exact", tools })),
    ),
  ),
);

test("any invocation the schema accepts is the same after it was written and read again", () => {
  fc.assert(
    fc.property(invocation, (value) => {
      const once = read(wire(value));
      const reading = readInvocation(wire(once));
      assert.ok(reading.ok && reading.warnings.length === 0);
      assert.deepEqual(wire(reading.invocation), wire(once));
      assert.deepEqual(Invocation.parse(wire(value)), once);
    }),
    { numRuns: 300 },
  );
});

test("reading never throws on a JSON value, and gives either a cause or an invocation", () => {
  fc.assert(
    fc.property(fc.oneof(json, fc.record({ targets: json, executor: json, tools: json })), (value) => {
      const reading = readInvocation(value);
      if (!reading.ok) assert.ok(reading.issues.length > 0);
      else assert.ok(Array.isArray(reading.invocation.targets));
    }),
    { numRuns: 500 },
  );
});

test("an unknown field added anywhere at the top is reported and changes nothing else", () => {
  const known = Object.keys(Invocation.shape);
  const unknownKey = fc.string().filter((key) => !known.includes(key));
  fc.assert(
    fc.property(invocation, unknownKey, json, (value, key, extra) => {
      const reading = readInvocation(Object.fromEntries([...Object.entries(value), [key, extra]]));
      assert.ok(reading.ok);
      assert.deepEqual(
        reading.warnings.map(({ path }) => path),
        [key],
      );
      assert.deepEqual(reading.invocation, read(value));
    }),
    { numRuns: 200 },
  );
});
