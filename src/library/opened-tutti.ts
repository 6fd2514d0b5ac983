// What a program can do with an opened Tutti: the same in process and over HTTP.

import type {
  ForkThread,
  ThreadListQuery,
  ThreadMessagePage,
  ThreadMessagesQuery,
  ThreadPage,
} from "../protocol/api/thread-shapes.ts";
import type { Budget } from "../protocol/task/budget.ts";
import type { Answer } from "../protocol/task/ask.ts";
import type { TaskEvent } from "../protocol/task/event.ts";
import type { TaskSummary } from "../protocol/task/task-view.ts";
import type { AgentTool, CodeAgent } from "./code-agent.ts";
import type { CodeTool } from "./code-tool.ts";
import type { CodeWorkflow } from "./code-workflow.ts";
import type { PlainPart } from "./run-parts.ts";
import type { RunOutcome } from "./run-outcome.ts";
import type { Recorded } from "./recorded.ts";
import type { AnyTarget, OutcomesOf, OutputsOf } from "./run-target.ts";

/** Who said it: the agent and its task, which may be one below the task of the run. */
interface Said {
  readonly agent: string;
  readonly task: string;
}

/** A call of one of the agent's own tools whose arguments fit its schema. */
export type ToolCallPart<Tools extends readonly AgentTool[]> = CallOf<Tools[number]>;
type CallOf<Tool> =
  Tool extends CodeTool<infer Name, infer Input, infer _Output>
    ? Said & { readonly type: "tool-call"; readonly tool: Name; readonly input: Input; readonly id: string }
    : never;

/** The outcome of such a call. A call that failed has an error instead of an output. */
export type ToolResultPart<Tools extends readonly AgentTool[]> = ResultOf<Tools[number]>;
type ResultOf<Tool> =
  Tool extends CodeTool<infer Name, infer _Input, infer Output>
    ? Said & { readonly type: "tool-result"; readonly tool: Name; readonly id: string } & (
          | { readonly ok: true; readonly output: Recorded<Output> }
          | { readonly ok: false; readonly error: string }
        )
    : never;

export type RunPart<Output = unknown, Tools extends readonly AgentTool[] = readonly AgentTool[]> =
  /** A piece of text. `again`: the reply began anew, and what was shown of it before does not count. */
  | (Said & { readonly type: "text"; readonly text: string; readonly again?: true })
  | (Said & { readonly type: "reasoning"; readonly text: string })
  /** Something a person should know while they wait, such as that a call is made again. */
  | (Said & { readonly type: "notice"; readonly text: string })
  | ToolCallPart<Tools>
  | ToolResultPart<Tools>
  | { readonly type: "ask"; readonly ask: RunAsk }
  /** Any other event of the run. */
  | { readonly type: "event"; readonly event: TaskEvent }
  /** The last part. */
  | { readonly type: "end"; readonly outcome: RunOutcome<Output> };

/** A question that the run waits with. The first answer counts. */
export interface RunAsk {
  readonly id: string;
  readonly task: string;
  readonly kind: "question" | "approval" | "budget";
  readonly question: string;
  readonly choices: readonly string[];
  readonly details: unknown;
  /** False when somebody else answered first, or the time was over. Throws `invalid_input` for an answer that does not fit. */
  approve(): Promise<boolean>;
  deny(reason?: string): Promise<boolean>;
  answer(value: unknown): Promise<boolean>;
}

/**
 * An answer: a boolean for an approval or a budget, a value for a question, or a whole answer. With undefined the ask stays
 * open, to be answered later.
 */
export type AskAnswer = boolean | string | Answer | undefined;
export type OnAsk = (ask: RunAsk) => AskAnswer | Promise<AskAnswer>;

export interface StartRunOptions {
  /** An idempotency key: the same key again gives the same run, ended or not, also after a restart. */
  readonly key?: string | undefined;
  /** Cancels the run, and everything below it. */
  readonly signal?: AbortSignal | undefined;
  /** Limits of the run with everything below it. */
  readonly budget?: Partial<Budget> | undefined;
  /** Folders that the built-in tools may touch. */
  readonly roots?: readonly string[] | undefined;
  /** Called with each question of the run; when absent, the one of `openTutti` is. */
  readonly onAsk?: OnAsk | undefined;
}

export interface StreamOptions {
  readonly signal?: AbortSignal | undefined;
  /** Begins after the event with this number instead of at the beginning of the run. */
  readonly after?: number | undefined;
}

export interface Run<Output = unknown, Tools extends readonly AgentTool[] = readonly AgentTool[]> {
  /** The task at the top of the run. The command line knows it by this name. */
  readonly task: string;
  /** Whether the key found a run that was there already. */
  readonly existed: boolean;
  /** What happens, from the beginning, in order; ends with the part `end`. It can be followed any number of times. */
  stream(options?: StreamOptions): AsyncIterable<RunPart<Output, Tools>>;
  /** Everything that was said and called in the run, with every tool of every agent and whole texts; ends with the run. */
  parts(options?: StreamOptions): AsyncIterable<PlainPart>;
  /** The result. Throws a `TuttiError` when the run failed or was canceled. */
  result(): Promise<Output>;
  /** How the run ended, as a value. */
  outcome(): Promise<RunOutcome<Output>>;
  /** The questions that are open now. */
  asks(): Promise<readonly RunAsk[]>;
  /** Says something to the agent, which reads it at its next turn. */
  send(text: string): Promise<void>;
  cancel(reason?: string): Promise<void>;
  /** The run as a message stream of the AI SDK's UI hooks. The run goes on when nobody reads it any more. */
  toResponse(init?: ResponseInit): Response;
}

/** A conversation that goes on after its runs have ended. Each thing that is said in it is a run of its own. */
export interface Thread {
  /** Its name, or the id of a thread without one. */
  readonly name: string;
  /**
   * Starts a run of the agent that begins with what was said in the thread before. While an earlier run of the thread has not
   * ended, the run is queued: it is recorded, and begins when all before it have ended.
   */
  say<Output, Tools extends readonly AgentTool[], Name extends string>(
    agent: CodeAgent<Output, Tools, Name>,
    prompt: string,
    options?: StartRunOptions,
  ): Promise<Run<Output, Tools>>;
  /** What was said, oldest first, in pages. Nothing when the thread was not begun. */
  messages(query?: ThreadMessagesQuery): Promise<ThreadMessagePage>;
  /** A copy that goes on by itself, up to a message if one is named by its id. */
  fork(options?: ForkThread): Promise<Thread>;
}

export interface FanOutRun<Targets extends readonly AnyTarget[]> {
  readonly task: string;
  readonly existed: boolean;
  /** Every outcome, those of targets that failed too. */
  outcomes(): Promise<OutcomesOf<Targets>>;
  /** Every result. Throws the first error, once all targets have ended. */
  results(): Promise<OutputsOf<Targets>>;
  stream(options?: StreamOptions): AsyncIterable<RunPart<OutputsOf<Targets>, readonly []>>;
  asks(): Promise<readonly RunAsk[]>;
  cancel(reason?: string): Promise<void>;
}

/** A task that cannot go on, because the program has no agent or workflow of its name. */
export interface ParkedTask {
  readonly task: string;
  readonly name: string;
  readonly reason: string;
}

/** An opened Tutti. It is the same in process and over HTTP. */
export interface OpenTutti extends AsyncDisposable {
  /** Starts a run of the agent, and returns once it is recorded. */
  run<Output, Tools extends readonly AgentTool[], Name extends string>(
    agent: CodeAgent<Output, Tools, Name>,
    prompt: string,
    options?: StartRunOptions,
  ): Promise<Run<Output, Tools>>;
  /** Starts several agents at the same time, as one run with one budget. */
  fanOut<const Targets extends readonly AnyTarget[]>(
    targets: Targets,
    options?: StartRunOptions,
  ): Promise<FanOutRun<Targets>>;
  /** Starts a workflow, and returns once it is recorded. */
  start<Input, Output>(
    workflow: CodeWorkflow<Input, Output>,
    input: Input,
    options?: StartRunOptions,
  ): Promise<Run<Recorded<Output>, readonly []>>;
  /** A run that was started before, by the name of its task. */
  find<Output, Tools extends readonly AgentTool[], Name extends string>(
    agent: CodeAgent<Output, Tools, Name>,
    task: string,
  ): Promise<Run<Output, Tools>>;
  find<Input, Output>(workflow: CodeWorkflow<Input, Output>, task: string): Promise<Run<Recorded<Output>, readonly []>>;
  /** The thread with this name or id. It is made when something is said in it first. */
  thread(name: string): Thread;
  /** The thread in which something was said last comes first. */
  threads(query?: ThreadListQuery): Promise<ThreadPage>;
  /** All questions that are open. */
  asks(): Promise<readonly RunAsk[]>;
  /** Runs, newest first. */
  runs(query?: { readonly limit?: number; readonly open?: boolean }): Promise<readonly TaskSummary[]>;
  /** Stops the work in process; unfinished runs go on when the state is opened again. Over HTTP it closes the connection. */
  close(): Promise<void>;
}

/** What only a Tutti in the program's own process can tell. */
export interface LocalTutti extends OpenTutti {
  /** Tasks of earlier programs that wait until an agent or workflow of their name is there again. */
  parked(): readonly ParkedTask[];
  /** Resolves when a crash that the test asked for has happened; never without one. */
  readonly crashed: Promise<void>;
}
