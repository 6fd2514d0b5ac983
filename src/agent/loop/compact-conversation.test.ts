// A conversation near its limit: old results are masked, then old turns folded; ids, answers and what was said survive, the record too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { z } from "zod";

import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";
import { TuttiError } from "../../protocol/error.ts";
import { rehearsalModel } from "../../model/rehearsal/rehearsal-model.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { CompleteMessage } from "../../protocol/task/message.ts";
import type { Model } from "../../model-port.ts";
import { person } from "../../../test/support/lead-and-worker.ts";
import { recorded, type Sent, solo, textOf } from "../../../test/support/recording-model.ts";
import { World, world } from "../../../test/support/agent-kit.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { until } from "../../../test/support/wait-until.ts";

/** A page of text that is different for every number and mentions an id. */
const page = stepTool({
  name: "page",
  description: "",
  input: z.strictObject({ n: z.number() }),
  repeatable: true,
  run: ({ n }) => `page ${n} of tsk_keep${n} ${"lorem ipsum ".repeat(200)}`,
});
const tools = [...builtinTools, page];
const summaryRule = { agent: "_summary", say: "SUMMARY: pages were read." };

/** Asks once, then reads pages until turn `last`. */
function reading(last: number) {
  const turns = Array.from({ length: last - 1 }, (_, index) => ({
    turn: index + 1,
    call: [{ tool: "page", args: { n: index } }],
  }));
  return [
    summaryRule,
    { agent: "a", turn: 0, ask: { question: "Which colour?" } },
    ...turns.map((rule) => ({ agent: "a", ...rule })),
    { agent: "a", final: "read" },
  ];
}

/** The rules go by the page last read: what was folded cannot be counted any more. */
function byPage(last: number) {
  return [
    summaryRule,
    { agent: "a", turn: 0, last: "go", ask: { question: "Which colour?" } },
    ...Array.from({ length: last }, (_, n) => ({
      agent: "a",
      last: `page ${last - 1 - n} of`,
      ...(n === 0 ? { final: "read" } : { call: [{ tool: "page", args: { n: last - n } }] }),
    })),
    { agent: "a", call: [{ tool: "page", args: { n: 0 } }] },
  ];
}

async function run(w: World, file: object): Promise<{ status: string; content: unknown; task_id: string }> {
  const root = await w.start(file);
  const [wait] = await until(() => w.waits(root).length > 0 && w.waits(root));
  await w.engine.deliver(wait?.id ?? "", { kind: "question", value: "ultramarine" }, person);
  const { content } = await w.engine.result(root);
  return (content as { result: { status: string; content: unknown; task_id: string } }).result;
}

const sizes = (sent: readonly Sent[]): number[] => sent.map(({ messages }) => textOf(messages).length);

test("near the limit old results are masked first: short, deterministic, with their ids, and the record stays whole", async (t) => {
  const model = recorded();
  const w = await world(t, { environment: { tools }, model: model.model });
  const result = await run(w, solo(reading(14), { context_tokens: 10_000, max_turns: 60 }));
  assert.equal(result.content, "read");
  const last = textOf(model.sent.at(-1)?.messages ?? []);
  assert.match(
    last,
    /characters left out to save space; read_result \{"id":"call_1_0"\} shows the result again\. Ids in it: tsk_keep0\./,
  );
  assert.match(last, /page 12 of tsk_keep12 lorem/);
  assert.ok(
    model.sent.every(({ agent }) => agent === "a"),
    "no summary was needed",
  );
  assert.ok(w.toolResults(result.task_id).filter((kept) => String(kept).includes("lorem")).length >= 13);
  assert.ok(Math.max(...sizes(model.sent)) < 10_000 * 4);
});

for (const format of ["native", "fenced"] as const) {
  test(`when masking is not enough, old turns become a summary that keeps ids, answers and the opening (${format})`, async (t) => {
    const model = recorded();
    const w = await world(t, { environment: { tools }, model: model.model });
    // The contract of the fenced format takes its part of the context.
    const limit = format === "fenced" ? 8_000 : 4_000;
    const result = await run(w, solo(byPage(60), { context_tokens: limit, max_turns: 90, format }));
    assert.equal(result.content, "read");
    const summaries = model.sent.filter(({ agent }) => agent === "_summary");
    assert.ok(summaries.length >= 2, `${summaries.length} summaries`);
    const last = textOf(model.sent.at(-1)?.messages ?? []);
    assert.match(last, /^user: go\n/);
    assert.match(last, /SUMMARY: pages were read\./);
    assert.match(last, /Which colour\?.*ultramarine/);
    assert.match(last, /tsk_keep0\b/);
    assert.ok(Math.max(...sizes(model.sent)) < limit * 4, `largest ${Math.max(...sizes(model.sent))}`);
    const kept = w.messages(result.task_id);
    assert.ok(
      kept.some((message) => JSON.stringify(message).includes("page 3 of")),
      "the record has what was folded",
    );
    assertPaired(model.sent);
  });
}

/** Providers refuse a result without its call and a call without its result. */
function assertPaired(sent: readonly Sent[]): void {
  for (const { messages } of sent) {
    const ids = (kind: "tool_call" | "tool_result"): string[] =>
      messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.part_type === kind ? [part.data.tool_call_id] : [])),
      );
    assert.deepEqual(ids("tool_result").toSorted(), ids("tool_call").toSorted());
  }
}

test("between two shortenings every request begins with the one before it, so a provider's cache holds", async (t) => {
  const model = recorded();
  const w = await world(t, { environment: { tools }, model: model.model });
  await run(w, solo(byPage(60), { context_tokens: 4_000, max_turns: 90 }));
  const own = model.sent.filter(({ agent }) => agent === "a");
  const kept = own.filter(({ messages }, index) =>
    (own[index - 1]?.messages ?? []).every((message, at) => message === messages[at]),
  );
  assert.ok(kept.length > own.length * 0.6, `${kept.length} of ${own.length}`);
});

test("a summary that cannot be made does not stop the task: what may not be lost is told without it", async (t) => {
  const failing = (file: InvocationFile): Model => {
    const model = rehearsalModel(file.script);
    return {
      estimate: (request) => model.estimate(request),
      async call(request, options) {
        if (request.agent === "_summary") throw new TuttiError("io", "no answer");
        return model.call(request, options);
      },
    };
  };
  const w = await world(t, { environment: { tools }, model: failing });
  const result = await run(w, solo(byPage(40), { context_tokens: 4_000, max_turns: 90 }));
  assert.equal(result.content, "read");
  assert.ok(
    w.messages(result.task_id).some((message) => JSON.stringify(message).includes("There is no summary of it")),
  );
});

test("stopped at any call after a shortening, the model is sent the very same conversation again", async (t) => {
  const whole = await played(t, Infinity);
  const calls = whole.length;
  assert.ok(calls > 40 && whole.some((request) => request.includes("SUMMARY")));
  for (let at = 8; at <= calls; at += 7) {
    const cut = await played(t, at);
    assert.deepEqual(cut.toSpliced(at, 1), whole, `stopped at call ${at}`);
  }
});

test("a request that the provider refuses as too long is shortened and sent once more, after a restart too", async (t) => {
  const refusing = { context_tokens: 100_000, refuseAbove: 4_000 };
  const whole = await played(t, Infinity, refusing);
  const long = whole.filter((request) => request.length > refusing.refuseAbove * 4);
  // The limit that the provider told is kept to from then on.
  assert.equal(long.length, 1);
  const first = whole.indexOf(long[0] ?? "");
  assert.ok(whole.slice(first + 1, first + 3).some((request) => request.includes("SUMMARY")));
  for (const at of [first + 1, first + 2, first + 3, first + 4]) {
    const cut = await played(t, at, refusing);
    assert.deepEqual(cut.toSpliced(at, 1), whole, `stopped at call ${at}`);
  }
});

interface Played {
  readonly context_tokens: number;
  /** Tokens of the longest request that the model takes. */
  readonly refuseAbove: number;
}

const takesAll: Played = { context_tokens: 4_000, refuseAbove: Infinity };

/** Every request in order; the call with number `at` never answers and is made again by the next process. */
async function played(
  t: Parameters<typeof tempFolder>[0],
  at: number,
  { context_tokens, refuseAbove }: Played = takesAll,
): Promise<string[]> {
  const folder = tempFolder(t);
  const sent: string[] = [];
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const model = (file: InvocationFile): Model => {
    const inner = rehearsalModel(file.script);
    return {
      estimate: (request) => inner.estimate(request),
      call(request, options) {
        const asked = plain(request.agent, request.messages);
        sent.push(asked);
        if (sent.length !== at && asked.length > refuseAbove * 4) {
          throw new TuttiError("too_large", "too long", { details: { limit: refuseAbove } });
        }
        if (sent.length !== at) return inner.call(request, options);
        stop();
        return new Promise((_, reject) =>
          options.signal.addEventListener("abort", () => reject(options.signal.reason)),
        );
      },
    };
  };
  const rules = byPage(32).map((rule) =>
    "ask" in rule ? { ...rule, ask: undefined, call: [{ tool: "echo", args: { text: "start" } }] } : rule,
  );
  const first = new World(folder, { environment: { tools }, model });
  const root = await first.start(solo(rules, { context_tokens, max_turns: 90 }));
  const ended = await Promise.race([first.engine.result(root).then(() => true), stopped.then(() => false)]);
  await first.close();
  if (ended) return sent;
  const second = new World(folder, { environment: { tools }, model });
  await second.engine.recover();
  await second.engine.result(root);
  await second.close();
  return sent;
}

function plain(agent: string, messages: readonly CompleteMessage[]): string {
  return `${agent} ${JSON.stringify(messages.map(({ role, name, parts }) => ({ role, name, parts })))}`;
}
