// The verbs of a conversation with the manager: one table that the prompt, the checks of arguments and the code that runs them share.

import { z } from "zod";

import { BranchName } from "../protocol/api/workspace-shapes.ts";
import { AskId, GoalId, TaskId } from "../protocol/ids.ts";

/** What a verb does to the world. `look`: nothing. */
type VerbEffect = "look" | "start" | "steer" | "merge" | "end";

interface VerbSpec {
  readonly about: string;
  readonly effect: VerbEffect;
  /** `sessions`: its result may hold what a session, a model or a stranger wrote. `records`: only what Tutti itself records. */
  readonly shows: "records" | "sessions";
  readonly args: z.ZodObject;
}

const words = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => text.trim() !== "", "must not be blank");

const task = TaskId.describe("id of the task");
const goal = GoalId.describe("id of the goal");
const reason = words(1000).optional().describe("why, in a few words");

const verb = <const S extends VerbSpec>(spec: S): S => spec;

export const verbCatalogue = {
  "goals.list": verb({
    about: "all goals, newest first, with their status",
    effect: "look",
    shows: "records",
    args: z.strictObject({ status: words(32).optional().describe("only goals with this status") }),
  }),
  "goals.get": verb({
    about: "one goal: its criteria, its tasks, what is proven and what is missing",
    effect: "look",
    shows: "sessions",
    args: z.strictObject({ goal }),
  }),
  "goals.start": verb({
    about: "start a goal in the folder of this conversation; it is split into tasks, which are then verified",
    effect: "start",
    shows: "records",
    args: z.strictObject({
      text: words(20_000).describe("what is wanted, as the person said it"),
      accept: z.array(words(2_000)).max(50).optional().describe("criteria that the person named"),
    }),
  }),
  "goals.message": verb({
    about: "tell an open goal something, which its next decision takes into account",
    effect: "steer",
    shows: "records",
    args: z.strictObject({ goal, text: words(20_000).describe("what to tell it") }),
  }),
  "tasks.list": verb({
    about: "tasks at the top of their trees, newest first, with status and cost",
    effect: "look",
    shows: "records",
    args: z.strictObject({
      status: z.enum(["pending", "running", "input_required", "completed", "failed", "canceled"]).optional(),
      below: TaskId.optional().describe("instead, the tasks of this tree"),
    }),
  }),
  "tasks.get": verb({
    about: "one task with its result",
    effect: "look",
    shows: "sessions",
    args: z.strictObject({ task }),
  }),
  "sessions.list": verb({
    about: "sessions that are not over, with what each is doing",
    effect: "look",
    shows: "records",
    args: z.strictObject({}),
  }),
  "sessions.observe": verb({
    about: "what the session of a task is doing, with its latest events",
    effect: "look",
    shows: "sessions",
    args: z.strictObject({ task }),
  }),
  "sessions.send": verb({
    about: "send a message to the session of a task",
    effect: "steer",
    shows: "records",
    args: z.strictObject({
      task,
      text: words(20_000).describe("the message"),
      interrupt: z.boolean().optional().describe("true to interrupt what the session is doing"),
    }),
  }),
  "sessions.inject": verb({
    about: "type words into the session of a task: they are read at its next turn, or at once when it is interrupted",
    effect: "steer",
    shows: "records",
    args: z.strictObject({
      task,
      text: words(20_000).describe("the words"),
      submit: z.enum(["enter", "interrupt"]).optional().describe("`enter` when absent"),
    }),
  }),
  "sessions.health": verb({
    about: "whether sessions can be reached, how many there are, and how many wait for a person",
    effect: "look",
    shows: "records",
    args: z.strictObject({}),
  }),
  "sessions.stop": verb({
    about: "stop the session of a task; it can be resumed",
    effect: "steer",
    shows: "records",
    args: z.strictObject({ task, reason }),
  }),
  "sessions.resume": verb({
    about: "let a stopped task go on",
    effect: "steer",
    shows: "records",
    args: z.strictObject({ task }),
  }),
  "sessions.kill": verb({
    about: "end a task and all below it at once and remove their workspaces; committed work stays on its branch",
    effect: "end",
    shows: "records",
    args: z.strictObject({ task, reason }),
  }),
  "tasks.cancel": verb({
    about: "cancel a task and all below it; their workspaces stay",
    effect: "end",
    shows: "records",
    args: z.strictObject({ task, reason }),
  }),
  "asks.list": verb({
    about: "questions that wait for an answer",
    effect: "look",
    shows: "sessions",
    args: z.strictObject({ task: TaskId.optional().describe("only of this task and those below it") }),
  }),
  "asks.answer": verb({
    about:
      "answer a question with words that the person wrote in this message; approvals and limits are for the person alone",
    effect: "steer",
    shows: "records",
    args: z.strictObject({
      ask: AskId.describe("id of the ask"),
      words: words(20_000).describe("copied from the person's message, letter for letter"),
    }),
  }),
  "workspaces.diff": verb({
    about: "what a task has changed, as git counts it",
    effect: "look",
    shows: "sessions",
    args: z.strictObject({ task }),
  }),
  "workspaces.merge": verb({
    about: "merge the verified work of a task into a branch",
    effect: "merge",
    shows: "records",
    args: z.strictObject({ task, into: BranchName.describe("the branch, such as main") }),
  }),
  recall: verb({
    about: "earlier goals and conversations that contain these words, newest first",
    effect: "look",
    shows: "sessions",
    args: z.strictObject({ words: words(500).describe("what to look for") }),
  }),
} as const satisfies Record<string, VerbSpec>;

export type VerbName = keyof typeof verbCatalogue;
export type VerbArgs<N extends VerbName> = z.output<(typeof verbCatalogue)[N]["args"]>;

/** A verb that exists, with arguments that fit. */
export type CheckedVerb<N extends VerbName = VerbName> = {
  [V in N]: { readonly verb: V; readonly args: VerbArgs<V> };
}[N];

export type VerbCheck =
  | { readonly ok: true; readonly call: CheckedVerb }
  | { readonly ok: false; readonly message: string };

/** Verbs that other session managers have under these names, and what takes their place. */
const elsewhere: Readonly<Record<string, string>> = {
  "sessions.launch": "`goals.start` does that: a task is launched by the goal that needs it",
  "sessions.get": "`tasks.get` does that",
  "sessions.decommission": "`sessions.kill` does that",
  "sessions.adopt":
    "Tutti takes over no session that it did not start, because it knows neither its folder nor its rights; `goals.start` starts the work here",
};

/** @internal Exported for tests only. */
export function isVerb(name: string): name is VerbName {
  return Object.hasOwn(verbCatalogue, name);
}

export function checkVerbCall(name: string, given: Readonly<Record<string, unknown>>): VerbCheck {
  if (!isVerb(name)) {
    const known = Object.keys(verbCatalogue).join(", ");
    const instead = Object.hasOwn(elsewhere, name) ? `${elsewhere[name]}; ` : "";
    return {
      ok: false,
      message: `${instead}there is no verb ${JSON.stringify(name.slice(0, 64))}; the verbs are: ${known}`,
    };
  }
  return checkArgs(name, given);
}

function checkArgs<N extends VerbName>(verb: N, given: Readonly<Record<string, unknown>>): VerbCheck {
  const { args: schema }: VerbSpec = verbCatalogue[verb];
  // Null in an argument means the same as leaving it out.
  const told = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const read = schema.safeParse(told);
  if (read.success) return { ok: true, call: Call.parse({ verb, args: read.data }) };
  const faults = read.error.issues.map(({ path, message }) => {
    const [name] = path;
    if (name === undefined) return message;
    return Object.hasOwn(told, name)
      ? `the argument \`${String(name)}\` ${message}`
      : `the argument \`${String(name)}\` is missing`;
  });
  return { ok: false, message: `${verb} was not carried out: ${faults.join("; ")}` };
}

/** The arguments were checked by the verb's own schema before. */
const Call = z.custom<CheckedVerb>((value) => typeof value === "object");

/** Whether a person must agree. What ends something or changes a branch is never done without a person's yes. */
export function needsPerson(verb: VerbName, turnHoldsSessionOutput: boolean): boolean {
  const { effect } = verbCatalogue[verb];
  return effect === "end" || effect === "merge" || (effect !== "look" && turnHoldsSessionOutput);
}

/** The section of the prompt that lists the verbs. */
export function renderVerbs(): string {
  const lines = Object.entries(verbCatalogue).flatMap(([name, { about, effect, args }]) => [
    `- \`${name}\`: ${about}${effect === "look" ? "" : ` (${effectNotes[effect]})`}`,
    ...argumentLines(args),
  ]);
  return ["The verbs:", ...lines].join("\n");
}

const effectNotes = {
  start: "starts something",
  steer: "steers something",
  merge: "changes a branch; a person is asked",
  end: "ends something; a person is asked",
} as const satisfies Record<Exclude<VerbEffect, "look">, string>;

function argumentLines(args: z.ZodObject): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(args, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, field]) => {
    const { description, enum: choices }: { description?: string; enum?: unknown[] } = Object(field);
    const about = [description, ...(choices === undefined ? [] : [`one of ${choices.join(", ")}`])].filter(
      (part) => part !== undefined,
    );
    const told = about.length === 0 ? "" : `: ${about.join(", ")}`;
    return `  - \`${name}\` (${required.includes(name) ? "required" : "optional"})${told}`;
  });
}
