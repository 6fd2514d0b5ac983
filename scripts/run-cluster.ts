// Starts a private PostgreSQL, three nodes and a balancer on this machine, says where to look, and stops them again.
// node scripts/run-cluster.ts [--folder FOLDER] [--nodes N] [--port PORT]

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { startBalancer } from "./cluster/balancer.ts";
import { postgresPrograms, startPostgres } from "./cluster/private-postgres.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({
  options: {
    folder: { type: "string", default: join(root, ".cluster") },
    nodes: { type: "string", default: "3" },
    port: { type: "string", default: "7878" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  say("npm run cluster -- [--folder FOLDER] [--nodes N] [--port PORT]");
  say(
    "Starts a private PostgreSQL, N nodes (3) and a balancer on 127.0.0.1:PORT (7878). Everything is kept in FOLDER.",
  );
  process.exit(0);
}
const folder = resolve(values.folder);
const names = "abcdefghi".slice(0, Math.min(9, Math.max(1, Number(values.nodes) || 3))).split("");
mkdirSync(folder, { recursive: true, mode: 0o700 });

interface NodeProcess {
  readonly name: string;
  readonly child: ChildProcess;
  readonly state: string;
  readonly port: number;
}

const programs = await postgresPrograms(join(folder, "packages"), say);
const postgres = await startPostgres(programs, join(folder, "postgres"));
say(`${postgres.version} runs in ${postgres.folder}`);
const nodes = new Map<string, NodeProcess>();
let stopping = false;
const balancer = await startBalancer(Number(values.port), () => [...nodes.values()].map(({ port }) => port)).catch(
  async (thrown: unknown) => {
    await postgres.stop();
    throw new Error(`port ${values.port} cannot be used (${String(thrown)}); choose another with --port`);
  },
);
const url = `http://127.0.0.1:${balancer.port}`;
try {
  for (const name of names) nodes.set(name, await startNode(name));
  const states = [...nodes.values()].map(({ state }) => state);
  say("");
  say(`one Tutti at ${url}, on ${names.length} nodes:`);
  for (const { name, child, port, state } of nodes.values()) {
    say(`  ${name}  http://127.0.0.1:${port}  process ${child.pid}  state ${state}`);
  }
  say("");
  say("try, in another terminal:");
  say(`  bin/tutti.js nodes --state ${states[0]}`);
  say(`  bin/tutti.js open --state ${states[0]}`);
  say(`  bin/tutti.js invoke examples/invocations/ask.json --state ${states[0]}`);
  say(`  kill -9 ${nodes.get("a")?.child.pid}   # its work goes on at another node; it is started again after 5 s`);
  say("Ctrl-C stops everything; what is unfinished goes on at the next start.");
} catch (thrown) {
  process.exitCode = 1;
  say(thrown instanceof Error ? thrown.message : String(thrown));
  await stopAll();
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stopAll());

/** Resolves when it takes work. */
async function startNode(name: string): Promise<NodeProcess> {
  const state = join(folder, name);
  const options = ["--state", state, "--node", name, "--port", String(nodes.get(name)?.port ?? 0), "--lease", "5"];
  // The first node makes the key of the cluster. The others get it from there.
  const first = names[0] ?? name;
  const key = name === first ? [] : ["--cluster-key-file", join(folder, first, "cluster.key")];
  const child = spawn(
    process.execPath,
    [join(root, "bin", "tutti.js"), "up", "--json", ...options, ...key, "--public-url", url],
    {
      // The address of the database must not stand in the list of processes.
      env: { ...process.env, TUTTI_DATABASE: postgres.url },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const { promise, resolve: up, reject } = Promise.withResolvers<number>();
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-4_000)));
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    const found = /"url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(out)?.[1];
    if (found !== undefined) up(Number(found));
  });
  child.once("exit", (code, signal) => {
    reject(new Error(`node ${name} ended (${signal ?? code}):\n${said}`));
    if (!stopping) void startAgain(name, signal ?? code);
  });
  return { name, child, state, port: await promise };
}

const againMs = 5_000;

async function startAgain(name: string, how: string | number | null): Promise<void> {
  if (!nodes.has(name)) return;
  say(`node ${name} ended (${how}); it is started again in ${againMs / 1_000} s`);
  await new Promise((resume) => setTimeout(resume, againMs));
  if (stopping) return;
  try {
    const node = await startNode(name);
    nodes.set(name, node);
    say(`node ${name} is back as process ${node.child.pid}`);
  } catch (thrown) {
    say(thrown instanceof Error ? thrown.message : String(thrown));
  }
}

/** First the nodes, which hand over and record their ends, then what they stand on. */
async function stopAll(): Promise<void> {
  if (stopping) return;
  stopping = true;
  say("stopping");
  await Promise.all(
    [...nodes.values()].map(async ({ child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    }),
  );
  await balancer.close();
  await postgres.stop();
  say("stopped");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
