// Remembers which coding agents failed in a row, in `agent-failures.json` of the state folder.

import { join } from "node:path";

import { z } from "zod";

import { replacePrivateFile } from "../../files/private-file.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { AgentFailure, type HeldAgent } from "../../protocol/task/agent-failure.ts";
import type { Breaker } from "../../runner/acp/breaker.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { withShortLock } from "../../store/sqlite/short-lock.ts";

const Agent = z.strictObject({
  failures: z.array(AgentFailure),
  /** What the setting was when it failed last, so that a list needs no config. */
  held_from: z.int(),
});
const FailuresFile = z.strictObject({ agents: z.record(z.string(), Agent) });
type Agents = z.infer<typeof FailuresFile>["agents"];

const pathIn = (state: string): string => join(state, "agent-failures.json");
/** More are not shown. */
const mostKept = 10;

/** `max`: failures in a row after which an agent is held back; 0 means never. */
export function openAgentFailures(state: string, max: number): Breaker {
  const path = pathIn(state);
  const change = (work: (agents: Agents) => Agents | undefined): void => {
    makeFolder(state);
    withShortLock(`${path}.lock`, () => {
      const agents = work(read(state));
      if (agents !== undefined) replacePrivateFile(path, `${JSON.stringify({ agents }, null, 2)}\n`);
    });
  };
  return {
    heldBack(agent) {
      const failures = failuresOf(read(state), agent);
      return max > 0 && failures.length >= max ? failures : [];
    },
    failed(agent, failure) {
      if (max === 0) return;
      change((agents) => {
        const before = failuresOf(agents, agent);
        if (before.some(({ task, attempt }) => task === failure.task && attempt === failure.attempt)) return undefined;
        const failures = [...before, failure].slice(-Math.max(mostKept, max));
        return { ...agents, [agent]: { failures, held_from: max } };
      });
    },
    cleared(agent) {
      if (failuresOf(read(state), agent).length === 0) return;
      change((agents) => Object.fromEntries(Object.entries(agents).filter(([name]) => name !== agent)));
    },
  };
}

/** The agents that are not launched before a person looked. */
export function heldAgents(state: string): HeldAgent[] {
  return Object.entries(read(state)).flatMap(([agent, { failures, held_from }]) =>
    failures.length < held_from ? [] : [{ agent, failures }],
  );
}

function failuresOf(agents: Agents, agent: string): readonly AgentFailure[] {
  return Object.hasOwn(agents, agent) ? (agents[agent]?.failures ?? []) : [];
}

/** A file that cannot be read holds nobody back: it must not be in the way of work. */
function read(state: string): Agents {
  const text = readOptionalFile(pathIn(state));
  return (text === undefined ? undefined : FailuresFile.safeParse(parseJson(text)).data?.agents) ?? {};
}
