// Names for completion: ids of tasks, goals and asks, agents, contexts, providers. Quick and silent, since a person waits for Tab.
import type { Reader } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { givenFolder } from "../given-folder.ts";
import { listTasks } from "../list-tasks.ts";
import { localName, readContexts } from "../remote/contexts.ts";
import { remoteHost } from "../remote/remote-host.ts";
import { findTarget, type TargetOptions } from "../remote/find-target.ts";
import { stateFolder } from "../state-folder.ts";
import { writeUnbroken } from "../terminal/screen.ts";
import type { LookedUp } from "./completion-table.ts";

const timeLimitMs = 1_000;
const mostTasks = 50;
/** Names come from files that others may have written. Only those that mean nothing to a shell are offered. */
const safeName = /^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$/;

/** `words` is what is typed after `tutti` so far. Whatever goes wrong, nothing is offered. */
export async function completeValues(local: Host, what: LookedUp, words: readonly string[]): Promise<void> {
  const timer = setTimeout(() => process.exit(0), timeLimitMs);
  try {
    for (const name of await namesOf(local, what, optionsIn(words))) if (safeName.test(name)) await writeUnbroken(name);
  } catch {
    // A person who completes a word is not helped by an error in the middle of the line.
  } finally {
    clearTimeout(timer);
  }
}

interface TypedOptions extends TargetOptions {
  readonly cwd?: string | undefined;
}

function optionsIn(words: readonly string[]): TypedOptions {
  const after = (name: string): string | undefined => {
    const index = words.indexOf(name);
    return index < 0 ? undefined : words[index + 1];
  };
  return {
    state: after("--state"),
    cwd: after("--cwd"),
    url: after("--url"),
    context: after("--context"),
    keyFile: after("--key-file"),
    insecure: words.includes("--insecure"),
  };
}

async function namesOf(local: Host, what: LookedUp, options: TypedOptions): Promise<string[]> {
  switch (what) {
    case "contexts":
      return [localName, ...Object.keys(readContexts().contexts)];
    case "providers":
      return (await local.setup({ state: stateFolder(options.state), folder: givenFolder(options.cwd) })).providers.map(
        ({ provider }) => provider,
      );
    case "agents": {
      const project = await local.openProject(givenFolder(options.cwd), { state: stateFolder(options.state) });
      return (await project.agents()).agents.map(({ name }) => name);
    }
    case "tasks":
      return reading(local, options, async (reader) =>
        (await listTasks(reader, { limit: mostTasks, all: false })).map(({ id }) => id),
      );
    case "goals":
      return reading(local, options, async (reader) =>
        (await reader.goals({ limit: mostTasks })).goals.map(({ goal }) => goal),
      );
    case "asks":
      return reading(local, options, async (reader) =>
        [...(await reader.asks()), ...(await reader.waits())].map(({ id }) => id),
      );
  }
}

/** The folder is read directly, which is quicker than asking the daemon. */
async function reading(
  local: Host,
  options: TypedOptions,
  read: (reader: Reader) => Promise<string[]>,
): Promise<string[]> {
  const target = findTarget(options, { env: process.env, contexts: readContexts });
  const reader =
    target === undefined ? local.openReader(stateFolder(options.state)) : await remoteHost(local, target).connect("");
  if (reader === undefined) return [];
  try {
    return await read(reader);
  } finally {
    await reader.close();
  }
}
