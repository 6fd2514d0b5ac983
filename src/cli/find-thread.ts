// Finds the thread that a person means: by its id, by its name, by a task of it, or `last`.
import type { Reader } from "../client/client.ts";
import type { ThreadView } from "../protocol/api/thread-shapes.ts";
import { TuttiError } from "../protocol/error.ts";
import { ThreadId } from "../protocol/ids.ts";

/** `last` is the one in which something was said last. A name that several projects have is refused. */
export async function findThread(reader: Pick<Reader, "thread" | "threads">, given: string): Promise<ThreadView> {
  if (ThreadId.safeParse(given).success) return reader.thread(given);
  const named = given === "" ? [] : (await reader.threads({ named: given, limit: 10 })).threads;
  const [only, another] = named;
  if (only !== undefined && another === undefined) return only;
  if (only !== undefined) {
    const places = named.map(({ id, project }) => `${id} in ${project ?? "no project"}`).join(", ");
    throw new TuttiError("invalid_input", `several projects have a thread ${given}: ${places}; give the id`);
  }
  const [newest] = given === "last" ? (await reader.threads({ limit: 1 })).threads : [];
  if (newest !== undefined) return newest;
  throw new TuttiError("not_found", `there is no thread ${given}; \`tutti threads\` lists them`);
}
