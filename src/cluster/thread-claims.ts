// Who may say something into a thread: one node at a time, so that two of them never say something at the same place.

import { TuttiError } from "../protocol/error.ts";
import type { ThreadPlace } from "../ports.ts";
import { idInName } from "../store/names.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import { storedText } from "../store/postgres/stored-text.ts";
import type { NodeLife } from "./cluster-tasks.ts";

type Life = Pick<NodeLife, "node" | "over">;

/** What is said takes one commit. */
const patienceMs = 60_000;
const lookAgainMs = 10;

/** By node and thread: what this node says into one thread, it says one after the other. */
const speaking = new WeakMap<NodeStore, Map<string, Promise<unknown>>>();

/**
 * The thread is claimed in the database while `work` says something into it, and this node has seen what others said there
 * before. Whoever dies loses its claim. A thread that is begun by a name is claimed by the name.
 */
export async function inThread<T>(life: Life, place: ThreadPlace, work: () => Promise<T>): Promise<T> {
  if (place.thread === null) return work();
  const { node } = life;
  const key = claimOf(node, place);
  const own = speaking.get(node) ?? new Map<string, Promise<unknown>>();
  speaking.set(node, own);
  const before = own.get(key);
  const turn = (async () => {
    await before?.catch(() => undefined);
    return claimed(life, key, async () => (claimOf(node, place) === key ? { said: await work() } : undefined));
  })();
  own.set(key, turn);
  try {
    const done = await turn;
    // It was begun meanwhile, and is claimed by its id from now on.
    return done === undefined ? await inThread(life, place, work) : done.said;
  } finally {
    if (own.get(key) === turn) own.delete(key);
  }
}

function claimOf({ store }: NodeStore, { project, thread }: ThreadPlace): string {
  const name = thread ?? "";
  const id = name.startsWith("thr_") ? idInName(store.salt, name) : store.threadNamed(project, name)?.id;
  return id === undefined ? `thread ${JSON.stringify([project, name])}` : `thread ${id}`;
}

async function claimed<T>({ node, over }: Life, key: string, work: () => Promise<T>): Promise<T> {
  const values = [storedText(key), node.incarnation];
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(lookAgainMs)) {
    const stopped = over();
    if (stopped !== undefined) throw stopped;
    const [claim] = await node.rows("SELECT mine FROM claim_key($1, $2, false)", values);
    if (claim?.["mine"] !== 1) continue;
    try {
      await node.catchUp();
      return await work();
    } finally {
      // A claim that cannot be given back ends with this node.
      await node.rows("SELECT release_key($1, $2)", values).catch(() => undefined);
    }
  }
  throw new TuttiError(
    "busy",
    "another node is saying something in this thread and has not finished in time; try again",
  );
}

/** A process that stops does not go on for whoever waits here. */
function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
