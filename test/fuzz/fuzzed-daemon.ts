// A real daemon process with work in it for the fuzzer: running trees, open questions, waits, operators, workers.

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { WebSocket } from "ws";

import { type LargeState, makeLargeState } from "../support/large-state.ts";
import { type Known, known, learn } from "./known-ids.ts";

const root = join(import.meta.dirname, "..", "..");
const upMs = 240_000;

export interface DaemonWorld {
  readonly url: URL;
  /** Tasks with large results, messages and steps. */
  readonly large: LargeState;
  readonly pid: number;
  readonly known: Known;
  /** Resolves with how it ended, whenever that is. */
  readonly ended: Promise<string>;
  /** What it wrote last. */
  said(): string;
  readonly call: (method: string, path: string, body?: string) => Promise<{ status: number; text: string }>;
  /** Ends what was started and removes the folder. */
  close(): Promise<void>;
}

/** The heap is kept small, so that a leak shows early and garbage does not look like one. */
const nodeFlags = ["--max-old-space-size=192", "--max-semi-space-size=4"];

export async function daemonWorld(largeResults: number): Promise<DaemonWorld> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-fuzz-"));
  const state = join(folder, "state");
  const project = join(folder, "project");
  cpSync(join(root, "examples", "project"), project, { recursive: true });
  mkdirSync(join(project, ".tutti", "agents"), { recursive: true });
  writeFileSync(join(project, ".tutti", "agents", "reader.md"), "---\ndescription: Reads.\n---\nYou read.\n");
  mkdirSync(state, { mode: 0o700 });
  const kibibyte = 1024;
  const large = await makeLargeState(state, {
    results: largeResults,
    waits: 10,
    bytes: 256 * kibibyte,
    rootBytes: 2048 * kibibyte,
  });
  const { PATH, TMPDIR } = process.env;
  // Nothing of this machine's: no keys, no config, no agents.
  const env = { PATH, HOME: folder, NO_COLOR: "1", ...(TMPDIR === undefined ? {} : { TMPDIR }) };
  const flags = ["up", "--state", state, "--cwd", project, "--port", "0", "--json", "--log-level", "error"];
  const child = spawn(process.execPath, [...nodeFlags, join(root, "bin", "tutti.js"), ...flags], { cwd: folder, env });
  let heard = "";
  const hear = (chunk: Buffer): void => {
    heard = `${heard}${chunk.toString()}`.slice(-20_000);
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  const ended = new Promise<string>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(signal ?? `status ${code}`));
  });
  const sockets: WebSocket[] = [];
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.terminate();
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const url = await comingUp(state, ended, () => heard);
    const examples = join(root, "examples", "invocations");
    // One that runs commands is no business of chance's.
    const files = readdirSync(examples).filter((name) => name.endsWith(".json") && name !== "command.json");
    const invocations = [
      ...files.map((name) => readFileSync(join(examples, name), "utf8")),
      operatorInvocation("anybody", undefined),
      operatorInvocation("crew", "crew"),
    ];
    const all = known({
      admin: readFileSync(join(state, "admin.key"), "utf8").trim(),
      project,
      invocations,
      handoff: readFileSync(join(root, "examples", "handoff.toon"), "utf8"),
    });
    for (const task of Object.values(large)) all.tasks.add(task);
    const world: DaemonWorld = {
      url,
      large,
      pid: pidOf(child),
      known: all,
      ended,
      said: () => heard,
      call: (method, path, body) => call(url, all.admin, { method, path, ...(body === undefined ? {} : { body }) }),
      close,
    };
    sockets.push(await crew(world));
    await buildEnvironment(world);
    return world;
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error("the daemon was not started");
  return pid;
}

async function comingUp(state: string, ended: Promise<string>, heard: () => string): Promise<URL> {
  let end: string | undefined;
  void ended.then((how) => (end = how));
  const file = join(state, "daemon.json");
  for (const until = Date.now() + upMs; Date.now() < until; await sleep(50)) {
    if (end !== undefined) throw new Error(`the daemon ended with ${end}: ${heard()}`);
    if (existsSync(file)) return new URL(String(Reflect.get(JSON.parse(readFileSync(file, "utf8")), "url")));
  }
  throw new Error(`the daemon did not come up: ${heard()}`);
}

async function call(
  url: URL,
  key: string,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body?: string },
): Promise<{ status: number; text: string }> {
  const response = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: response.status, text: await response.text() };
}

/** An operator that takes everything and keeps what it was handed, so that requests can be made as its workers. */
async function crew({ url, known: all, call: send }: DaemonWorld): Promise<WebSocket> {
  const joined = await send("POST", "/v1/operators", JSON.stringify({ roles: ["crew"] }));
  const { sid, token }: { sid: string; token: string } = JSON.parse(joined.text);
  if (joined.status !== 200) throw new Error(`could not join: ${joined.text}`);
  const socket = new WebSocket(`ws://${url.host}/v1/operators/${sid}/ws`, ["tutti.v1"], {
    headers: { authorization: `Bearer ${token}` },
  });
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    const frame: Record<string, unknown> = JSON.parse(data.toString());
    if (frame["type"] === "hook_before")
      socket.send(JSON.stringify({ type: "hook_ack", req_id: frame["req_id"], ok: true }));
    if (frame["type"] !== "spawn") return;
    for (const bearer of [frame["worker_handle"], frame["capability_token"]]) {
      all.workers.add({ task: String(frame["task_id"]), bearer: String(bearer) });
    }
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("close", reject);
  });
  return socket;
}

async function buildEnvironment({ known: all, call: send }: DaemonWorld): Promise<void> {
  for (const text of all.invocations) {
    const started = await send("POST", `/v1/invocations?folder=${encodeURIComponent(all.project)}`, text);
    if (started.status !== 201) throw new Error(`could not invoke: ${started.status} ${started.text}`);
    learn(all, "invoke", JSON.parse(started.text));
  }
  const key = await send("POST", "/v1/keys", JSON.stringify({ name: "fuzz", role: "viewer" }));
  learn(all, "addKey", JSON.parse(key.text));
  const operator = await send("POST", "/v1/operators", JSON.stringify({ roles: ["noise"] }));
  learn(all, "joinOperator", JSON.parse(operator.text));
  for (let tries = 0; tries < 100 && all.asks.all.length === 0; tries += 1) {
    learn(all, "asks", JSON.parse((await send("GET", "/v1/asks")).text));
    learn(all, "waits", JSON.parse((await send("GET", "/v1/waits")).text));
    await sleep(50);
  }
}

function operatorInvocation(name: string, gate: string | undefined): string {
  return JSON.stringify({
    invocation: {
      targets: [
        {
          agent: { type: "named", agent_id: name },
          message: { role: "user", parts: [{ part_type: "text", data: "Count the words." }] },
          executor: { kind: "force", type: "remote", runner: { kind: "operator", config: { operator: "crew" } } },
        },
      ],
    },
    agents: { [name]: { instructions: "You count." } },
    ...(gate === undefined ? {} : { operators: { gate, senior: gate } }),
  });
}
