// What a workflow works with: typed operations with keys, and errors that say which rule of durable functions was broken.

import { approvalOutcome } from "../core/approval.ts";
import type { AskSpec } from "../ports.ts";
import { TuttiError } from "../protocol/error.ts";
import type { AgentResult } from "../protocol/invocation/invocation-result.ts";
import { workflowPrefix } from "../runner/program/config.ts";
import type { AnyAgent } from "./code-agent.ts";
import type { CodeWorkflow, NamedRunOptions, WorkflowAsk, WorkflowContext } from "./code-workflow.ts";
import { outcomeOf, outputReader } from "./code-run.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { WorkflowPort, WorkflowTarget } from "./workflow-port.ts";

/** What the schema has read has the type of the input. */
export function runWorkflow(workflow: CodeWorkflow, port: WorkflowPort, input: unknown): Promise<unknown> {
  const run: (durable: WorkflowContext, input: never) => Promise<unknown> = workflow.run.bind(workflow);
  return Reflect.apply(run, workflow, [workflowContext(port), input]);
}

function workflowContext(port: WorkflowPort): WorkflowContext {
  const used = new Set<string>();
  /** A loop that uses the same key twice would get the first outcome again and take it for a new one. */
  const own = (key: string): string => {
    if (key === "" || key.includes("!")) {
      throw new TuttiError("invalid_input", `the key ${JSON.stringify(key)} of a step must not be empty or have a "!"`);
    }
    if (used.has(key)) {
      const message = `the key ${key} was used twice in ${port.agent}; give each step of a loop a key of its own, as in \`step(\`charge:\${id}\`, …)\``;
      throw new TuttiError("invalid_input", message);
    }
    used.add(key);
    return `${workflowPrefix}${key}`;
  };
  const runTargets = async (
    key: string,
    targets: readonly WorkflowTarget[],
    output?: NamedRunOptions<unknown>["output"],
  ): Promise<RunOutcome<unknown>[]> => {
    const results = await port.runAgents(own(key), targets);
    return Promise.all(results.map((result, index) => readResult(result, targets[index]?.agent, output)));
  };
  const context: Omit<WorkflowContext, "run" | "fanOut" | "step" | "start"> & Untyped = {
    task: port.task,
    attempt: port.attempt,
    signal: port.signal,
    get port() {
      return port.durable;
    },
    step: (key, body, options = {}) => port.step(own(key), async (step) => recordable(key, await body(step)), options),
    sleep: (key, ms) => port.sleep(own(key), ms),
    now: (key) => port.now(own(key)),
    id: (key) => port.id(own(key)),
    async run(key, agent, prompt, { output } = {}) {
      const [outcome] = await runTargets(key, [{ agent, prompt }], output);
      return valueOf(outcome);
    },
    async start(key, workflow, input) {
      const result = await port.startWorkflow(own(key), workflow.name, input);
      return valueOf(await outcomeOf({ result: async () => result, read: async (value) => value }));
    },
    fanOut: (key, targets) => runTargets(key, targets),
    async ask(key, ask) {
      const waited = await port.wait(own(key), askOf("question", ask));
      return "expired" in waited || waited.value.kind !== "question" ? undefined : String(waited.value.value);
    },
    async approve(key, ask) {
      return approvalOutcome(await port.wait(own(key), askOf("approval", ask))).approved;
    },
    receive: (key) => port.receive(own(key)),
  };
  return typed(context);
}

/** The operations whose types depend on the program: what they return was read by its schemas, or came out of JSON. */
interface Untyped {
  step(
    key: string,
    body: Parameters<WorkflowContext["step"]>[1],
    options?: Parameters<WorkflowContext["step"]>[2],
  ): Promise<unknown>;
  run(key: string, agent: AnyAgent | string, prompt: string, options?: NamedRunOptions<unknown>): Promise<unknown>;
  start(key: string, workflow: Pick<CodeWorkflow, "name">, input: unknown): Promise<unknown>;
  fanOut(key: string, targets: readonly WorkflowTarget[]): Promise<unknown>;
}

function typed(context: Omit<WorkflowContext, keyof Untyped> & Untyped): WorkflowContext;
function typed(context: unknown): unknown {
  return context;
}

/** What JSON would lose is told at once, and not after the next restart. */
function recordable(key: string, outcome: unknown): unknown {
  if (outcome === undefined) return null;
  try {
    const text = JSON.stringify(outcome);
    if (text !== undefined) return outcome;
  } catch {
    // Told below.
  }
  const message = `the step ${key} returned something that cannot be written as JSON; return plain data`;
  throw new TuttiError("invalid_input", message);
}

/** An agent that is only named may have any result, unless the workflow says which one it takes. */
function readResult(
  result: AgentResult,
  agent: AnyAgent | string | undefined,
  output: NamedRunOptions<unknown>["output"],
): Promise<RunOutcome<unknown>> {
  const isNamed = typeof agent === "string";
  const read =
    isNamed && output === undefined
      ? async (value: unknown) => value
      : outputReader(isNamed ? output : agent?.output, isNamed ? agent : (agent?.name ?? ""));
  return outcomeOf({ result: async () => result, read });
}

function valueOf(outcome: RunOutcome<unknown> | undefined): unknown {
  if (outcome === undefined) throw new TuttiError("internal", "a child that was joined has no result");
  if (outcome.status !== "completed") throw outcome.error;
  return outcome.output;
}

function askOf(kind: AskSpec["kind"], given: string | WorkflowAsk): { ask: AskSpec; within?: number } {
  const { question, choices, details, withinMs } = typeof given === "string" ? { question: given } : given;
  return {
    ask: {
      kind,
      question,
      ...(choices === undefined ? {} : { choices }),
      ...(details === undefined ? {} : { details }),
    },
    ...(withinMs === undefined ? {} : { within: withinMs }),
  };
}
