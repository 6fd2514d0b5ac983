// Long tasks against servers that enforce what the real providers enforce: shortened, inherited, handed over, cut, restarted.

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { z } from "zod";

import { World } from "../../../test/support/agent-kit.ts";
import { hurried, model } from "../../../test/support/model-server-models.ts";
import { isTruncated, refusalOf, type Rules, signed } from "../../../test/support/model-server-rules.ts";
import { modelServer, type ModelServer, type Received, type Turn } from "../../../test/support/model-server.ts";
import type { ScriptedReply, Wire } from "../../../test/support/model-server-wires.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { builtinTools } from "../agent-environment.ts";
import { stepTool } from "../tools/tool.ts";

const page = stepTool({
  name: "page",
  description: "One page.",
  input: z.strictObject({ n: z.number() }),
  repeatable: true,
  run: ({ n }) => `page ${n}: ${"lorem ipsum ".repeat(90)}`,
});

/** The numbers of the requests in which something else happens than the reading of a page. */
const at = { delegate: 40, childEnds: 75, handover: 130, end: 200 };
/** Requests in the middle of which the process ends: of the child, of the lead, of the one it was handed over to. */
const restarts = [60, 100, 150];

type Call = NonNullable<ScriptedReply["calls"]>[number];

function call(n: number, name: string, args: object, part = 0): Call {
  return { id: `call_${n}_${part}`, name, args: JSON.stringify(args) };
}

/** What the model does in its n-th request: mostly it reads a page, and every so often something goes wrong. */
function turnAt(n: number, wire: Wire): Turn {
  const think = { reasoning: `Thinking of ${n}. ` };
  const read = call(n, "page", { n });
  if (n === at.delegate) {
    return { reply: { ...think, calls: [call(n, "invoke_agent", { agent: "child", prompt: "Read on." }), read] } };
  }
  if (n === at.childEnds) return { reply: { ...think, text: ["The child has read."] } };
  if (n === at.handover)
    return { reply: { ...think, calls: [call(n, "handover", { agent: "closer", prompt: "End it." })] } };
  if (n === at.end) return { reply: { ...think, calls: [call(n, "final", { content: "all read" })] } };
  if (n % 13 === 5)
    return { reply: { ...think, calls: [{ ...read, args: wire === "google" ? "{}" : '{"n":' }], finish: "length" } };
  if (n % 17 === 3) return { reply: think };
  if (n % 19 === 7) return { reply: { ...think, calls: [read, { ...call(n, "page", {}, 1), args: '{"n": }' }] } };
  if (n % 23 === 11) return { status: 503, headers: { "retry-after-ms": "1" } };
  if (n % 29 === 9) return { reply: { ...think, text: ["lost"], calls: [read] }, bytes: 300, end: "broken" };
  if (n % 11 === 4)
    return { reply: { ...think, text: ["Two at once."], calls: [read, call(n, "page", { n: n + 1000 }, 1)] } };
  return { reply: { ...think, ...(n % 3 === 0 ? { text: [`Page ${n}.`] } : {}), calls: [read] } };
}

/** The same reply of a model that is offered no tools and writes its calls into its text. */
function inFences({ calls = [], ...reply }: ScriptedReply): ScriptedReply {
  const blocks = calls.map(({ name, args }) => `\n\`\`\`tool\n{"name":"${name}","args":${args}}\n\`\`\`\n`);
  return { ...reply, text: [...(reply.text ?? []), ...blocks] };
}

interface LongRun {
  readonly status: string;
  readonly content: unknown;
  readonly refused: readonly string[];
  readonly requests: number;
  readonly summaries: number;
  /** Requests that carried reasoning of earlier turns. */
  readonly withReasoning: number;
  /** Requests whose beginning the server has cut off without a word. */
  readonly truncated: number;
}

/** Runs the task in several processes, each of which but the last ends in the middle of a request. */
async function longRun(t: TestContext, wire: Wire, modelId: string, rules: Rules): Promise<LongRun> {
  const refused: string[] = [];
  let [served, summaries, withReasoning, truncated] = [0, 0, 0, 0];
  let unanswered: Received | undefined;
  let stop: () => void = () => undefined;
  const left = [...restarts];
  const answer = (request: Received): Turn => {
    const refusal = refusalOf(wire, request, rules);
    if (refusal !== undefined) {
      refused.push(JSON.stringify(refusal));
      return refusal;
    }
    if (isTruncated(request, rules)) truncated += 1;
    if (JSON.stringify(request.body).includes("You shorten the record")) {
      summaries += 1;
      return { reply: signed(wire, request, { text: ["Pages were read."] }) };
    }
    const isAnother = unanswered !== undefined && JSON.stringify(request.body) !== JSON.stringify(unanswered.body);
    if (isAnother) refused.push("the next process did not make the very same request again");
    unanswered = undefined;
    if (served === left[0]) {
      left.shift();
      unanswered = request;
      stop();
      return { silent: true };
    }
    if (/Thinking of \d/.test(JSON.stringify(request.body))) withReasoning += 1;
    const turn = turnAt(served, wire);
    served += 1;
    if (!("reply" in turn)) return turn;
    return { ...turn, reply: signed(wire, request, rules.noTools === true ? inFences(turn.reply) : turn.reply) };
  };
  const server = await modelServer(t, wire, answer);
  const folder = tempFolder(t);
  const name = `here/${modelId}`;
  const format = rules.noTools === true ? "fenced" : "native";
  const limits = { model: name, format, context_tokens: rules.loadedTokens ?? 20_000, max_turns: 300 };
  const file = {
    invocation: single(named("lead", "Read all pages.")),
    agents: {
      lead: { instructions: "You lead.", handover: ["closer"], ...limits },
      child: { instructions: "You read.", context: "inherited", ...limits },
      closer: { instructions: "You close.", ...limits },
    },
  };
  let root: string | undefined;
  let ended: { readonly content: unknown } | undefined;
  for (const _ of [...restarts, "the last process"]) {
    const stopped = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
    const world = open(folder, wire, server);
    if (root === undefined) root = await world.start(file);
    else await world.engine.recover();
    ended = await Promise.race([stopped, world.engine.result(root)]);
    await world.close();
  }
  assert.ok(ended !== undefined, "the last process ended before the task");
  const { result } = ended.content as { result: { status: string; content: unknown } };
  return { ...result, refused, requests: served, summaries, withReasoning, truncated };
}

function open(folder: string, wire: Wire, server: ModelServer): World {
  const here = model(wire, server, { clock: hurried });
  return new World(folder, { environment: { tools: [...builtinTools, page] }, model: () => here });
}

const contextTokens = 9_000;

const runs: readonly (readonly [title: string, wire: Wire, modelId: string, rules: Rules])[] = [
  ["anthropic", "anthropic", "m", { contextTokens }],
  ["openai", "openai", "m", { contextTokens }],
  ["google", "google", "m", { contextTokens }],
  [
    "a server that wants reasoning back",
    "openai-compatible",
    "deepseek-v4",
    { contextTokens, reasoningContent: "required" },
  ],
  [
    "a strict server of Mistral's models",
    "openai-compatible",
    "mistral-large",
    { contextTokens, reasoningContent: "refused", replyAfterResults: true },
  ],
  [
    "a server without tools that truncates silently",
    "openai-compatible",
    "m",
    { loadedTokens: contextTokens, reasoningContent: "refused", noTools: true },
  ],
];

for (const [title, wire, modelId, rules] of runs) {
  test(`${title}: a task of 200 turns is shortened, inherited, handed over, cut and restarted, and runs through`, async (t) => {
    const run = await longRun(t, wire, modelId, rules);
    const others = run.refused.filter((text) => !/too long|exceeds the/.test(text));
    assert.deepEqual(others.slice(0, 1), [], `${others.length} requests were refused`);
    assert.deepEqual([run.status, run.content], ["completed", "all read"], JSON.stringify(run));
    assert.equal(run.requests, at.end + 1);
    const share = run.withReasoning / run.requests;
    assert.ok(
      rules.reasoningContent === "refused" ? share === 0 : share > 0.8,
      `${share} of the requests had reasoning`,
    );
    assert.ok(run.summaries >= 3, `${run.summaries} summaries`);
    assert.equal(run.truncated, 0);
    const [least, most] = rules.contextTokens === undefined ? [0, 0] : [1, 12];
    assert.ok(run.refused.length >= least && run.refused.length <= most, `${run.refused.length} were too long`);
  });
}
