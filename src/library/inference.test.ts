// The types that a program gets without writing any: checked by the compiler, since a wrong one does not compile.
import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import {
  agent,
  type LocalTutti,
  openTutti,
  type OpenTutti,
  type OutputOf,
  type Recorded,
  type Run,
  type RunOutcome,
  type RunPart,
  target,
  tool,
  type TuttiError,
  workflow,
  type WorkflowContext,
} from "../index.ts";
import { script } from "./testing.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only when the two types are the same. */
const same = <A, B>(..._proof: Equal<A, B> extends true ? [] : ["the types differ", A, B]): void => undefined;

const weather = tool({
  name: "weather",
  description: "x",
  input: z.object({ city: z.string(), days: z.number().default(1) }),
  effects: ["network"],
  run: ({ city, days }, { signal, key }) => {
    same<typeof city, string>();
    same<typeof days, number>();
    same<typeof signal, AbortSignal>();
    same<typeof key, string>();
    return { at: new Date(0), city };
  },
});
const count = tool({ name: "count", description: "x", input: z.object({}), effects: ["read"], run: async () => 1 });
const guide = agent({
  name: "guide",
  instructions: "x",
  model: script("x"),
  tools: [weather, count, "ask"],
  output: z.object({ advice: z.string() }),
});
const poet = agent({ name: "poet", instructions: "x", model: script("x") });
const nightly = workflow("nightly", z.object({ day: z.string().transform(Number) }), async (durable, { day }) => {
  same<typeof day, number>();
  same<typeof durable, WorkflowContext>();
  const step = await durable.step("s", () => ({ at: new Date(0), list: [1, "a"] as [number, string] }));
  same<typeof step, { at: string; list: [number, string] }>();
  const output = await durable.run("g", guide, "x");
  same<typeof output, { advice: string }>();
  const outcomes = await durable.fanOut("f", [target(guide, "a"), target(poet, "b")]);
  same<typeof outcomes, readonly [RunOutcome<{ advice: string }>, RunOutcome<string>]>();
  return { at: new Date(0), count: 1 };
});

/** Never called: only its types matter. */
async function programs(tutti: LocalTutti, remote: OpenTutti): Promise<void> {
  const run = await tutti.run(guide, "x");
  same<Awaited<ReturnType<typeof run.result>>, { advice: string }>();
  same<Awaited<ReturnType<Awaited<ReturnType<typeof remote.run<string, readonly [], "poet">>>["result"]>>, string>();
  for await (const part of run.stream()) {
    if (part.type === "tool-call") {
      same<typeof part.tool, "weather" | "count">();
      if (part.tool === "weather") same<typeof part.input, { city: string; days: number }>();
    }
    if (part.type === "tool-result" && part.tool === "weather" && part.ok) {
      same<typeof part.output, { at: string; city: string }>();
    }
    if (part.type === "tool-result" && part.tool === "count" && part.ok) same<typeof part.output, number>();
    if (part.type === "end" && part.outcome.status === "completed") {
      same<typeof part.outcome.output, { advice: string }>();
    }
    if (part.type === "end" && part.outcome.status !== "completed") same<typeof part.outcome.error, TuttiError>();
  }
  const fan = await tutti.fanOut([target(guide, "a"), target(poet, "b"), target(guide, "c")]);
  const [first, second, third] = await fan.results();
  same<typeof first, { advice: string }>();
  same<typeof second, string>();
  same<typeof third, { advice: string }>();
  const many = await tutti.fanOut(["a", "b"].map((city) => target(guide, city)));
  same<Awaited<ReturnType<typeof many.results>>, readonly { advice: string }[]>();
  const started = await tutti.start(nightly, { day: 1 });
  same<Awaited<ReturnType<typeof started.result>>, { at: string; count: number }>();
  workflow("named", z.string(), async (durable, city) => {
    const known = await durable.run("known", guide, city);
    same<typeof known, { advice: string }>();
    const unread = await durable.run("unread", "guide", city);
    same<typeof unread, unknown>();
    const read = await durable.run("read", "guide", city, { output: z.object({ advice: z.string() }) });
    same<typeof read, { advice: string }>();
    const [typed, named] = await durable.fanOut("both", [target(guide, city), target("guide", city)]);
    if (typed.status === "completed") same<typeof typed.output, { advice: string }>();
    if (named.status === "completed") same<typeof named.output, unknown>();
    const each = await durable.fanOut(
      "each",
      [city].map((name) => target("guide", name)),
    );
    same<typeof each, readonly RunOutcome<unknown>[]>();
  });
  // @ts-expect-error -- only a workflow names its targets: a program has the agents themselves
  await tutti.fanOut([target("guide", "a")]);

  const inProcess = await tutti.start(nightly, { day: 1 });
  // @ts-expect-error -- the input has the type of the workflow's schema
  await tutti.start(nightly, { day: "Monday" });
  const overHttp = await remote.start(nightly, { day: 1 });
  same<typeof overHttp, typeof inProcess>();
  const found = await remote.find(nightly, overHttp.task);
  same<typeof found, typeof inProcess>();
  // @ts-expect-error -- the input has the type of the workflow's schema over HTTP, too
  await remote.start(nightly, { day: "Monday" });
  // @ts-expect-error -- a daemon has tasks of others, and tells of those that are parked in its status
  remote.parked();
  // @ts-expect-error -- there is no built-in tool of this name
  agent({ name: "x", instructions: "x", model: script("x"), tools: ["fly"] });
  // @ts-expect-error -- an effect that there is not
  tool({ name: "x", description: "x", input: z.object({}), effects: ["magic"], run: () => 1 });
  // @ts-expect-error -- either a folder, or a daemon
  await openTutti({ state: "x", url: "http://127.0.0.1" });
}

test("types are inferred from schemas, tools and targets", () => {
  same<OutputOf<typeof guide>, { advice: string }>();
  same<OutputOf<typeof poet>, string>();
  same<Recorded<{ a: Date; b?: number; c: () => void }>, { a: string; b?: number | undefined }>();
  same<Recorded<{ d: undefined }>, { d: undefined }>();
  same<Recorded<[1, Date]>, [1, string]>();
  same<Recorded<Map<string, number>>, never>();
  same<Recorded<void>, null>();
  const any: Run = {} as Run<{ advice: string }, readonly [typeof weather]>;
  const part: RunPart = {} as RunPart<{ advice: string }, readonly [typeof weather]>;
  assert.deepEqual([any, part], [{}, {}]);
  assert.equal(typeof programs, "function");
});
