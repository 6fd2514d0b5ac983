// A thread as a program works with it: found by its name when something other than saying is done with it.

import { TuttiError } from "../protocol/error.ts";
import type { ThreadId } from "../protocol/ids.ts";
import type { Thread } from "./opened-tutti.ts";
import type { RunSource } from "./run-source.ts";

interface ThreadParts {
  readonly client: Pick<RunSource["client"], "threads" | "threadMessages" | "forkThread">;
  readonly say: (thread: string) => Thread["say"];
}

export function codeThread(name: string, parts: ThreadParts): Thread {
  const { client } = parts;
  const find = (): Promise<ThreadId | undefined> => threadNamed(client, name);
  return {
    name,
    say: parts.say(name),
    async messages(query) {
      const id = await find();
      return id === undefined ? { messages: [], next: null } : client.threadMessages(id, query);
    },
    async fork(options) {
      const id = await find();
      if (id === undefined) throw new TuttiError("not_found", `nothing was said in the thread ${name} yet`);
      const fork = await client.forkThread(id, options);
      return codeThread(fork.name ?? fork.id, parts);
    },
  };
}

async function threadNamed(client: ThreadParts["client"], name: string): Promise<ThreadId | undefined> {
  if (name.startsWith("thr_")) return name;
  const { threads } = await client.threads({ named: name, limit: 10 });
  // A program in its own process belongs to no project; a daemon may know the name in several.
  const [only, another] = threads.toSorted((a, b) => Number(a.project !== null) - Number(b.project !== null));
  if (another !== undefined && only?.project !== null) {
    const ids = threads.map(({ id, project }) => `${id} in ${project ?? "no project"}`).join(", ");
    throw new TuttiError("invalid_input", `several projects have a thread ${name}: ${ids}; use the id`);
  }
  return only?.id;
}
