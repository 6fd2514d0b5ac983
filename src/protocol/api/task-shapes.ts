// The queries and bodies of the routes of invocations, tasks, asks and events.

import { z } from "zod";
import { Ask, AskKind } from "../task/ask.ts";
import { TaskEvent } from "../task/event.ts";
import { Failure } from "../failure.ts";
import { AskId, TaskId, ThreadId, Time } from "../ids.ts";
import { AgentResult } from "../invocation/invocation-result.ts";
import { queryBoolean } from "../query-boolean.ts";
import { count, numberCursor } from "./list-query.ts";
import { CompleteMessage } from "../task/message.ts";
import { Ordinal } from "../task/task.ts";
import { TaskStatus } from "../task/task-status.ts";
import { TaskSummary } from "../task/task-view.ts";

const cursor = numberCursor;
/** The cursor of the next page; null on the last. A page may end before its limit, because its length is limited too. */
const next = z.string().nullable();

export const Started = z.strictObject({
  task: TaskId,
  /** It existed already: the same idempotency key, or the same invocation that has not finished. */
  existed: z.boolean(),
  warnings: z.array(z.string()),
  /** The thread that it was said into. */
  thread: ThreadId.optional(),
});
export type Started = z.infer<typeof Started>;

/** The task that does the work again: the same one in its next attempt, or a new one if the old one is over. */
export const Retried = z.strictObject({
  task: TaskId,
  /** The same idempotency key was used for this before. */
  existed: z.boolean(),
});
export type Retried = z.infer<typeof Retried>;

export const InvocationQuery = z.strictObject({
  /** An absolute path: where relative roots of the invocation start, and whose project's config applies. */
  folder: z.string().min(1).max(4096).optional(),
  /** Start another task even if the same invocation has not finished. */
  anew: queryBoolean.optional(),
});

/** The same key again gives the task that was made with it, finished or not; with another body it is a conflict. */
export const IdempotencyHeaders = z.object({
  "idempotency-key": z
    .string()
    .min(1)
    .max(255)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces")
    .optional(),
});

export const TaskParams = z.strictObject({ task: TaskId });
export const AskParams = z.strictObject({ ask: AskId });
export const WaitParams = z.strictObject({ wait: AskId });

export const TaskListQuery = z.strictObject({
  limit: count(200, 50),
  cursor,
  status: TaskStatus.optional(),
  agent: z.string().min(1).max(256).optional(),
  runner: z.string().min(1).max(64).optional(),
  parent: TaskId.optional(),
  /** `false`: tasks below the roots too. */
  roots: queryBoolean.optional(),
});
export type TaskListQuery = z.input<typeof TaskListQuery>;

export const ListedTask = TaskSummary.extend({
  /** For a root: the tasks of its tree that have not ended. */
  open: z.int().nonnegative().optional(),
  /** What was asked: of an invocation its targets, of another task that task. Texts are cut. */
  asked: z.strictObject({
    /** The names of the agents, each once, at most 4. */
    agents: z.array(z.string()),
    targets: z.int().nonnegative(),
    /** The first line of the message, at most 200 characters; of the first target when there are several. */
    prompt: z.string(),
    /** Targets of the latest attempt that ended so. An invocation is completed also when its targets failed. */
    failed: z.int().nonnegative(),
    canceled: z.int().nonnegative(),
  }),
  /** For a root: what its whole tree used. */
  tree_tokens: z.int().nonnegative().optional(),
  tree_money_micro_usd: z.int().nonnegative().optional(),
  /** For a root: requests to operators in its tree that are not settled. */
  operator_requests: z.int().nonnegative().optional(),
});
export type ListedTask = z.infer<typeof ListedTask>;

export const TaskPage = z.strictObject({ tasks: z.array(ListedTask), next });
export type TaskPage = z.infer<typeof TaskPage>;

export const TreeQuery = z.strictObject({ limit: count(1000, 200), cursor });
export type TreeQuery = z.input<typeof TreeQuery>;
export const TaskTree = z.strictObject({ tasks: z.array(TaskSummary), next });
export type TaskTree = z.infer<typeof TaskTree>;

export const PageQuery = z.strictObject({
  /** A sequence number; the page begins after it. */
  after: z.coerce.number<number>().int().min(0).default(0),
  limit: count(1000, 100),
});
export type PageQuery = z.input<typeof PageQuery>;

export const MessagePage = z.strictObject({
  messages: z.array(z.strictObject({ seq: z.int(), attempt: Ordinal, run: Ordinal, message: CompleteMessage })),
  next: z.int().nullable(),
});
export type MessagePage = z.infer<typeof MessagePage>;

export const StepView = z.strictObject({
  seq: z.int(),
  at: Time,
  attempt: Ordinal,
  run: Ordinal,
  key: z.string(),
  outcome: z.enum(["ok", "failed", "unknown"]),
  tokens: z.int(),
  money_micro_usd: z.int(),
  /** The outcome; if it failed, its error. */
  value: z.unknown(),
});
export type StepView = z.infer<typeof StepView>;
export const StepPage = z.strictObject({ steps: z.array(StepView), next: z.int().nullable() });
export type StepPage = z.infer<typeof StepPage>;

export const EventsQuery = z.strictObject({
  ...PageQuery.shape,
  /** Only this task and those below it. */
  task: TaskId.optional(),
  /** `true`: text on its way too, as events named `live`; only in a stream. */
  live: queryBoolean.optional(),
});
/** The task is in the path. */
export const TaskEventsQuery = EventsQuery.omit({ task: true });
export const StreamHeaders = z.object({ "last-event-id": z.string().max(32).optional() });

export const HistoryQuery = z.strictObject({
  /** A sequence number; the page ends before it. The newest events when absent. */
  before: z.coerce.number<number>().int().min(1).optional(),
  limit: count(1000, 200),
  /** Only events of these types, at most 16, with commas between them. */
  types: z
    .string()
    .max(512)
    .regex(/^[a-z_.]+(?:,[a-z_.]+){0,15}$/, "must be names of event types with commas between them")
    .optional(),
});
export type HistoryQuery = z.input<typeof HistoryQuery>;
/** `next`: the `before` of the page of older events; null when there are none. */
export const HistoryPage = z.strictObject({ events: z.array(TaskEvent), next: z.int().nullable() });
export type HistoryPage = z.infer<typeof HistoryPage>;

export const EventPage = z.strictObject({ events: z.array(TaskEvent), next: z.int().nullable() });
export type EventPage = z.infer<typeof EventPage>;

export const ResultQuery = z.strictObject({
  /** How long the request may stay open for the task to end. */
  wait_ms: z.coerce.number<number>().int().min(0).max(60_000).default(0),
});
/** 200 with a result, 202 without one. */
export const TaskOutcome = z.discriminatedUnion("ended", [
  z.strictObject({ ended: z.literal(true), settled: z.boolean(), result: AgentResult }),
  z.strictObject({ ended: z.literal(false), status: TaskStatus }),
]);
export type TaskOutcome = z.infer<typeof TaskOutcome>;

export const CancelTask = z.strictObject({ reason: z.string().trim().min(1).max(1000).default("canceled by request") });
export const CanceledTasks = z.strictObject({ canceled: z.array(TaskId) });

export const RetryTask = z.strictObject({
  /** If the task is not over: give up its attempt, with all tasks that this started, and begin the next attempt. */
  give_up: z.boolean().default(false),
});

export const TellTask = z.strictObject({
  text: z
    .string()
    .max(1_000_000)
    .refine((text) => text.trim() !== "", "is blank"),
  /** Ends what the session is doing, so that it reads the message at once; it goes on with what was said until then. */
  interrupt: z.boolean().default(false),
});
/** `task`: who gets it. For an invocation with one open task it is that task. */
export const Told = z.strictObject({ told: z.literal(true), task: TaskId });

export const OpenAsk = Ask.options[0];
export type OpenAsk = z.infer<typeof OpenAsk>;

/** A wait that an outside party settles by its id: the result of a tool that the client carries out. */
export const OpenWait = z.strictObject({
  id: AskId,
  task: TaskId,
  root: TaskId,
  label: z.string(),
  /** The call whose result is waited for, when it is that of a client's tool. */
  call: z.strictObject({ tool_name: z.string(), input: z.unknown() }).optional(),
  deadline: Time,
});
export type OpenWait = z.infer<typeof OpenWait>;

/** An ask in a list: not all that a person should see to decide, which `GET /v1/asks/{ask}` has. */
export const ListedAsk = z.strictObject({
  id: AskId,
  task: TaskId,
  root: TaskId,
  kind: AskKind,
  /** Its beginning, at most 1000 characters. */
  question: z.string(),
  /** How long the whole ask is as it is stored. */
  bytes: z.int().nonnegative(),
  raised_at: Time,
  deadline: Time,
});
export type ListedAsk = z.infer<typeof ListedAsk>;

/** A wait in a list; `GET /v1/waits/{wait}` has the whole call. Texts are cut after 1000 characters. */
export const ListedWait = z.strictObject({
  id: AskId,
  task: TaskId,
  root: TaskId,
  label: z.string(),
  /** The call whose result is waited for, when it is that of a client's tool; its input as JSON. */
  call: z.strictObject({ tool_name: z.string(), input_preview: z.string() }).optional(),
  /** How long the whole wait is as it is stored. */
  bytes: z.int().nonnegative(),
  deadline: Time,
});
export type ListedWait = z.infer<typeof ListedWait>;

export const OpenQuery = z.strictObject({
  /** Only of this task and those below it. */
  task: TaskId.optional(),
  limit: count(200, 100),
  cursor,
});
export type OpenQuery = z.input<typeof OpenQuery>;
export const AskList = z.strictObject({ asks: z.array(ListedAsk), next });
export type AskList = z.infer<typeof AskList>;
export const WaitList = z.strictObject({ waits: z.array(ListedWait), next });
export type WaitList = z.infer<typeof WaitList>;

export const WaitValue = z.strictObject({ value: z.unknown() });
/** `provisional`: it came after a restart, before the task could check it; if it does not fit, the question is asked again. */
export const Delivered = z.strictObject({ accepted: z.literal(true), provisional: z.boolean().optional() });

/** `record` says what the line is. */
export const ExportLine = z.looseObject({ record: z.enum(["task", "event"]) });

/** The last event of a stream that ends: why, and how to go on. */
export const StreamEnd = z.discriminatedUnion("reason", [
  /** The task and all tasks below it have ended; there will be no more events. */
  z.strictObject({ reason: z.literal("settled"), after: z.int() }),
  /** The reader was too slow; it can continue from `after`. */
  z.strictObject({ reason: z.literal("shed"), after: z.int() }),
  /** The service is stopping or cannot continue. */
  z.strictObject({ reason: z.literal("error"), after: z.int(), error: Failure }),
]);
export type StreamEnd = z.infer<typeof StreamEnd>;
