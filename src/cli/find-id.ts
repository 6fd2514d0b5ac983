// Finds the task, the goal or the question that a person means: by its id, the end or a unique beginning of it, or `last`.
import type { Reader } from "../client/client.ts";
import { goalOfTask, taskOfGoal } from "../core/goal-id.ts";
import { TuttiError } from "../protocol/error.ts";
import { AskId, type GoalId, TaskId } from "../protocol/ids.ts";

/** The newest tasks among which a beginning is looked for; whoever means an older one gives the whole id. */
const mostTasks = 10_000;
const pageSize = 200;
/** An error message names at most this many candidates. */
const mostNamed = 8;

/**
 * `last` is the newest root, and a goal stands for the task of its manager. Throws `not_found`, or `invalid_input` with the
 * candidates when several tasks fit.
 */
export async function findTask(reader: Reader, named: string): Promise<TaskId> {
  if (named === "last") return newestTask(reader);
  const given = named.startsWith("gol_") ? taskOfGoal(named) : named;
  if (TaskId.safeParse(given).success && (await exists(() => reader.task(given)))) return given;
  const known = (await Array.fromAsync(newestTasks(reader))).map(({ id }) => id);
  return chosen(given, { known, what: "task", prefix: "tsk_" });
}

/** `last` is the newest goal. A task of a goal, whichever, stands for its goal. */
export async function findGoal(reader: Reader, given: string): Promise<GoalId> {
  if (given === "last") {
    const [newest] = (await reader.goals({ limit: 1 })).goals;
    if (newest === undefined) throw new TuttiError("not_found", "there are no goals yet; `tutti run` starts one");
    return newest.goal;
  }
  const { root } = await reader.task(await findTask(reader, given));
  if ((await reader.task(root)).runner === "manager") return goalOfTask(root);
  throw new TuttiError("not_found", `${given} belongs to no goal; \`tutti goals\` lists them`);
}

/** `last` is the question that was asked last and is still open. */
export async function findAsk(reader: Reader, given: string): Promise<AskId> {
  const known = [...(await reader.asks()), ...(await reader.waits())].map(({ id }) => id).toSorted(byNumber);
  const newest = known.at(-1);
  if (given === "last") {
    if (newest === undefined) throw new TuttiError("not_found", "nothing waits for an answer");
    return newest;
  }
  // The command itself explains why a question is not open.
  const isClosed = AskId.safeParse(given).success && !known.some((id) => fits(id, given, "ask_"));
  return isClosed || known.includes(given) ? given : chosen(given, { known, what: "open question", prefix: "ask_" });
}

async function newestTask(reader: Reader): Promise<TaskId> {
  const [newest] = (await reader.tasks({ limit: 1 })).tasks;
  if (newest === undefined) throw new TuttiError("not_found", "there are no tasks yet");
  return newest.id;
}

async function* newestTasks(reader: Reader): AsyncGenerator<{ readonly id: TaskId }> {
  let cursor: string | undefined;
  for (let seen = 0; seen < mostTasks; seen += pageSize) {
    const page = await reader.tasks({ limit: pageSize, roots: false, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.tasks;
    if (page.next === null) return;
    cursor = page.next;
  }
}

interface Candidates {
  readonly known: readonly string[];
  readonly what: string;
  readonly prefix: string;
}

/** An id ends with a number of its own, which therefore names it alone. */
function chosen(given: string, { known, what, prefix }: Candidates): string {
  const byEnd = known.find((id) => numberOf(id) === given.toLowerCase());
  if (byEnd !== undefined) return byEnd;
  const found = known.filter((id) => fits(id, given, prefix)).toSorted(byNumber);
  const [only, another] = found;
  if (only === undefined) throw new TuttiError("not_found", `there is no ${what} ${given}`);
  if (another === undefined) return only;
  const named = found.slice(0, mostNamed).join(", ");
  const more = found.length > mostNamed ? `, and ${found.length - mostNamed} more` : "";
  throw new TuttiError("invalid_input", `${given} fits several: ${named}${more}; write more of the id`);
}

function fits(id: string, given: string, prefix: string): boolean {
  return given !== "" && (id.startsWith(given) || id.startsWith(`${prefix}${given}`));
}

/** The part of an id after its last underscore. */
function numberOf(id: string): string {
  return /_([^_]+)$/.exec(id)?.[1] ?? "";
}

/** Numbers of ids are counted up, so a longer one is later. */
function byNumber(first: string, second: string): number {
  const [a, b] = [numberOf(first), numberOf(second)];
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "not_found") return false;
    throw thrown;
  }
}
