import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";

import { captureOutput } from "../../test/support/captured-output.ts";
import type { Tutti } from "../client/client.ts";
import type { Host } from "../host/host.ts";
import { TuttiError } from "../protocol/error.ts";
import { commandLine, withDaemon, withReader, withTutti } from "./connect.ts";

const daemon = { url: "http://127.0.0.1:1", pid: 1, version: "0", started_at: 0, command: false };

interface World {
  readonly host: Host;
  /** What the command asked the host for, and what was closed, in order. */
  readonly calls: string[];
  /** Whether a daemon runs. */
  running: boolean;
  /** Another process asks this one to stop. */
  askToStop: () => void;
}

interface WorldOptions {
  readonly running?: boolean;
  readonly connectError?: TuttiError;
  /** Why this process cannot work on the folder. */
  readonly localError?: TuttiError;
  /** A daemon goes on with what others gave to this process. */
  readonly successor?: boolean;
}

/** A host that notes what it is asked for. Its clients can only be named, asked for their status, and closed. */
function world({ running = false, connectError, localError, successor = false }: WorldOptions = {}): World {
  const calls: string[] = [];
  const client = (name: string, url?: string): Tutti => {
    const parts = {
      url,
      status: async () => ({ parked: url === undefined ? [{ task: "tsk_1", runner: "warp" }] : [] }),
      close: async () => void calls.push(`close ${name}`),
    };
    return parts as unknown as Tutti;
  };
  const stopAsked = Promise.withResolvers<TuttiError | undefined>();
  const state: World = {
    calls,
    running,
    askToStop: () => stopAsked.resolve(undefined),
    host: {
      openReader: () => (calls.push("read"), client("reader")),
      openLocal: async () => {
        calls.push("local");
        if (localError !== undefined) {
          // The other command answers a moment later.
          state.running = true;
          throw localError;
        }
        const tutti = client("local");
        const close = async (): Promise<typeof daemon | undefined> => {
          await tutti.close();
          return successor ? daemon : undefined;
        };
        return { tutti, close, stopAsked: stopAsked.promise };
      },
      connect: async () => {
        calls.push("connect");
        if (connectError !== undefined) throw connectError;
        return state.running ? client("daemon", daemon.url) : undefined;
      },
      startDaemon: async () => {
        calls.push("start");
        state.running = true;
        return { daemon, existed: false };
      },
    } as unknown as Host,
  };
  return state;
}

const nothing = async (): Promise<void> => undefined;

describe("reading", () => {
  test("goes through the daemon if one runs, otherwise to the folder, and closes what it opened", async () => {
    const [with_, without] = [world({ running: true }), world()];
    await withReader(with_.host, {}, nothing);
    await withReader(without.host, {}, nothing);
    assert.deepEqual(with_.calls, ["connect", "close daemon"]);
    assert.deepEqual(without.calls, ["connect", "read", "close reader"]);
  });

  test("a daemon that does not answer is warned about, and the folder is read", async (t) => {
    const captured = captureOutput(t);
    for (const code of ["unreachable", "unauthorized"] as const) {
      const { host, calls } = world({ connectError: new TuttiError(code, "it hangs") });
      await withReader(host, { state: "/s" }, nothing);
      assert.deepEqual(calls, ["connect", "read", "close reader"]);
    }
    assert.match(captured.err, /^warning: it hangs; what follows is read from \/s\n/);
  });

  test("any other failure to connect is thrown", async () => {
    const { host } = world({ connectError: new TuttiError("newer", "another version") });
    await assert.rejects(withReader(host, {}, nothing), { code: "newer" });
  });
});

describe("working in the foreground", () => {
  test("goes through the daemon if one runs, otherwise in this process, with a warning about parked tasks", async (t) => {
    const captured = captureOutput(t);
    const [with_, without] = [world({ running: true }), world()];
    await withTutti(with_.host, {}, nothing);
    assert.equal(captured.err, "");
    await withTutti(without.host, {}, nothing);
    assert.deepEqual(with_.calls, ["connect", "close daemon"]);
    assert.deepEqual(without.calls, ["connect", "local", "close local"]);
    assert.match(captured.err, /tsk_1 is unfinished and cannot go on: this Tutti has no runner warp/);
  });

  /** The work ends as it does when the client is closed under it. */
  async function interrupted(t: TestContext, running: boolean): Promise<string> {
    t.after(() => (process.exitCode = undefined));
    const captured = captureOutput(t);
    const { host } = world({ running });
    await withTutti(host, { state: "/s" }, async ({ setTask }) => {
      setTask("tsk_7");
      process.emit("SIGINT");
      throw new TuttiError("stopped", "the connection was closed");
    });
    assert.equal(process.exitCode, 130);
    return captured.err;
  }

  test("after Ctrl-C says how to follow the work that a daemon goes on with", async (t) => {
    const text = await interrupted(t, true);
    assert.equal(text, "\ntutti: left; the daemon goes on with it, follow it with `tutti attach tsk_7 --state /s`\n");
  });

  test("after Ctrl-C says how to go on with the work of this process", async (t) => {
    assert.match(await interrupted(t, false), /stopped; .*, run the same command again to go on\n$/);
  });

  test("a command that finds the folder taken is served by the command that took it", async () => {
    const { host, calls } = world({ localError: new TuttiError("locked", "another process works on it") });
    await withTutti(host, {}, nothing);
    assert.deepEqual(calls, ["connect", "local", "connect", "close daemon"]);
  });

  test("work that lost its process before it had a task begins again with the next one, once", async () => {
    const { host, calls } = world({ running: true });
    const gone = new TuttiError("unreachable", "no reply");
    let tries = 0;
    await withTutti(host, {}, async () => {
      tries += 1;
      if (tries === 1) throw gone;
    });
    assert.deepEqual([tries, calls], [2, ["connect", "close daemon", "connect", "close daemon"]]);
    await assert.rejects(
      withTutti(host, {}, () => Promise.reject(gone)),
      gone,
    );
    const told = withTutti(host, {}, async ({ setTask }) => {
      setTask("tsk_1");
      throw gone;
    });
    await assert.rejects(told, gone, "what happens to a task that is known is told there");
  });

  test("says which daemon goes on with what other commands gave to this one", async (t) => {
    const captured = captureOutput(t);
    await withTutti(world({ successor: true }).host, {}, nothing);
    assert.match(
      captured.err,
      /a daemon at http:\/\/127\.0\.0\.1:1 goes on with what other commands gave to this one\n$/,
    );
  });

  test("stops when another process asks it to, as after Ctrl-C", async (t) => {
    t.after(() => (process.exitCode = undefined));
    const captured = captureOutput(t);
    const { host, askToStop, calls } = world();
    await withTutti(host, {}, async () => {
      askToStop();
      await new Promise((resolve) => setImmediate(resolve));
      throw new TuttiError("stopped", "the connection was closed");
    });
    assert.equal(process.exitCode, 130);
    assert.match(captured.err, /stopped; what was under way is kept/);
    assert.ok(calls.includes("close local"));
  });

  test("a failure of the work is thrown, after the client is closed", async () => {
    const { host, calls } = world({ running: true });
    await assert.rejects(
      withTutti(host, {}, () => Promise.reject(new Error("broken"))),
      /broken/,
    );
    assert.deepEqual(calls, ["connect", "close daemon"]);
  });
});

describe("working through a daemon", () => {
  test("starts one if there is none, and says so", async (t) => {
    const captured = captureOutput(t);
    const { host, calls } = world();
    await withDaemon(host, { state: "/s" }, nothing);
    assert.deepEqual(calls, ["connect", "start", "connect", "close daemon"]);
    assert.equal(captured.err, `started a daemon at ${daemon.url}; \`tutti down --state /s\` ends it\n`);
    captured.err = "";
    await withDaemon(world().host, { json: true }, nothing);
    assert.equal(captured.err, "", "not beside JSON");
  });

  test("starts none when the check fails", async () => {
    const { host, calls } = world();
    const check = (): Promise<never> => Promise.reject(new TuttiError("not_found", "there is no task"));
    await assert.rejects(withDaemon(host, { check }, nothing), { code: "not_found" });
    assert.deepEqual(calls, ["connect", "read", "close reader"]);
  });

  test("does not check the folder when a daemon runs", async () => {
    const { host, calls } = world({ running: true });
    const check = (): Promise<never> => Promise.reject(new Error("not called"));
    await withDaemon(host, { check }, nothing);
    assert.deepEqual(calls, ["connect", "close daemon"]);
  });
});

test("a command to type has the folder only if this command was given one", () => {
  assert.equal(commandLine(undefined, "logs -f "), "tutti logs -f");
  assert.equal(commandLine("/s", "down"), "tutti down --state /s");
});
