// The servers that run: started with the first call that needs one, started anew with growing pauses when they fail, ended with the last tree that used them.

import { setTimeout as sleep } from "node:timers/promises";

import { toTuttiError, TuttiError } from "../protocol/error.ts";
import type { McpServerEntry } from "../protocol/invocation/mcp-servers.ts";
import type { McpConnection } from "./mcp-connection.ts";
import type { ServerSurroundings, StartCode, StartedServer } from "./start-server.ts";

const firstPauseMs = 500;
const longestPauseMs = 60_000;
/** After so many failures in a row, calls are refused while the pause lasts instead of waiting for its end. */
const patientFailures = 3;
const defaultIdleMs = 5 * 60_000;
const lookEveryMs = 15_000;

/** Which server, with what, for whose folders. */
interface WantedServer {
  readonly name: string;
  /** With the values of variables. */
  readonly entry: McpServerEntry;
  readonly hash: string;
  readonly roots: readonly string[];
  readonly code?: StartCode | undefined;
  /** The tree that uses it; undefined when nobody tells of its end. */
  readonly tree?: string | undefined;
}

interface Running {
  starting: Promise<StartedServer> | undefined;
  started: StartedServer | undefined;
  /** Calls that use it now. */
  users: number;
  /** Trees that have used it and are not over. */
  readonly trees: Set<string>;
  lastUsedAt: number;
  failures: number;
  notBefore: number;
}

export interface ServerPool {
  /** Works with the server; starts it if it does not run. Servers are shared by tasks with the same folders. */
  use<T>(wanted: WantedServer, signal: AbortSignal, work: (connection: McpConnection) => Promise<T>): Promise<T>;
  /** The tree is over: servers that no other tree uses are ended. */
  release(tree: string): void;
  /** Ends all servers. */
  close(): void;
}

export function openServerPool(
  surroundings: ServerSurroundings,
  { idleMs = defaultIdleMs }: { readonly idleMs?: number } = {},
): ServerPool {
  const all = new Map<string, Running>();
  let isClosed = false;

  const end = (running: Running): void => {
    const { started } = running;
    running.started = undefined;
    void started?.connection.close();
  };
  const failed = (running: Running): void => {
    running.failures += 1;
    const pause = Math.min(longestPauseMs, firstPauseMs * 2 ** (running.failures - 1));
    running.notBefore = performance.now() + pause;
    end(running);
  };
  const start = async (wanted: WantedServer, running: Running): Promise<StartedServer> => {
    const { startServer } = await import("./start-server.ts");
    try {
      const started = await startServer({ ...surroundings, ...wanted });
      if (isClosed) {
        started.kill();
        throw new TuttiError("stopped", "Tutti is being stopped");
      }
      running.started = started;
      return started;
    } catch (thrown) {
      // Nothing is wrong with a server that only wants to know who calls.
      if (toTuttiError(thrown).code !== "unauthorized") failed(running);
      throw thrown;
    } finally {
      running.starting = undefined;
    }
  };
  const startedOf = async (wanted: WantedServer, running: Running, signal: AbortSignal): Promise<StartedServer> => {
    if (running.started?.connection.isClosed === true) failed(running);
    if (running.started !== undefined) return running.started;
    const pause = running.notBefore - performance.now();
    if (pause > 0 && running.failures >= patientFailures) {
      const again = `it is tried again in ${Math.ceil(pause / 1000)} s`;
      throw new TuttiError("unreachable", `the MCP server ${wanted.name} failed ${running.failures} times; ${again}`);
    }
    if (pause > 0) await sleep(pause, undefined, { signal });
    return (running.starting ??= start(wanted, running));
  };

  /** The tree that it was started for may be over before the call in it has returned. */
  const endUnneeded = (key: string, running: Running): void => {
    if (running.users > 0 || running.trees.size > 0) return;
    end(running);
    // How often it failed still counts for the next tree.
    if (performance.now() >= running.notBefore) all.delete(key);
  };

  const looking = setInterval(
    () => {
      for (const [key, running] of all) {
        const isIdle = running.users === 0 && running.starting === undefined;
        if (!isIdle || performance.now() - running.lastUsedAt < idleMs) continue;
        end(running);
        if (performance.now() >= running.notBefore) all.delete(key);
      }
    },
    Math.min(lookEveryMs, idleMs),
  ).unref();

  return {
    async use(wanted, signal, work) {
      if (isClosed) throw new TuttiError("stopped", "Tutti is being stopped");
      const key = JSON.stringify([wanted.hash, wanted.roots]);
      const running = all.get(key) ?? newRunning();
      all.set(key, running);
      running.users += 1;
      const { tree } = wanted;
      if (tree !== undefined) running.trees.add(tree);
      try {
        const { connection } = await startedOf(wanted, running, signal);
        const result = await work(connection);
        running.failures = 0;
        return result;
      } catch (thrown) {
        const { connection } = running.started ?? {};
        // A server that is late with one answer may only be slow; one that does not even answer this is ended.
        if (toTuttiError(thrown).code === "deadline" && connection !== undefined && !(await connection.isAlive())) {
          failed(running);
        }
        throw thrown;
      } finally {
        running.users -= 1;
        running.lastUsedAt = performance.now();
        if (tree !== undefined) endUnneeded(key, running);
      }
    },
    release(tree) {
      for (const [key, running] of all) if (running.trees.delete(tree)) endUnneeded(key, running);
    },
    close() {
      isClosed = true;
      clearInterval(looking);
      for (const running of all.values()) running.started?.kill();
      all.clear();
    },
  };
}

function newRunning(): Running {
  return {
    starting: undefined,
    started: undefined,
    users: 0,
    trees: new Set(),
    lastUsedAt: 0,
    failures: 0,
    notBefore: 0,
  };
}
