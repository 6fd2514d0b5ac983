// Does the same work in Tutti's library and in other libraries of its kind, interleaved, and prints a table for docs/benchmarks.md.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { transform } from "esbuild";
import { z } from "zod";

import { bundleLibrary } from "../../scripts/bundle.ts";

const root = join(import.meta.dirname, "..", "..");
const zod = "zod@4.6.7";

interface Peer {
  readonly title: string;
  /** What is installed for it, in exactly these versions; none for what is measured from this clone. */
  readonly packages?: readonly string[];
  /** Versions that its own dependencies get instead of those they name. */
  readonly overrides?: Readonly<Record<string, string>>;
  /** The folder of another peer that it shares. */
  readonly in?: string;
  /** What it keeps of a run. */
  readonly keeps: string;
}

/** How long installing one peer may take, and one measurement. */
const installMs = 3 * 60_000;
const measureMs = 5 * 60_000;

/**
 * Its SDK is named too: npm would take a later one that wants a later core, and search for one that fits everything without
 * an end. The saver's own version of better-sqlite3 ends the process under this Node (`RemoveEnvironmentCleanupHook`).
 */
const langgraph = [
  "@langchain/langgraph@1.4.18",
  "@langchain/langgraph-sdk@1.12.3",
  "@langchain/langgraph-checkpoint-sqlite@1.0.4",
  "@langchain/core@1.2.13",
];

/** By the name of the program in this folder. */
const peers: Readonly<Record<string, Peer>> = {
  bare: { title: "a bare loop", keeps: "nothing" },
  "bare-durable": { title: "a bare loop, each message a commit", keeps: "messages" },
  tutti: { title: "Tutti in memory", keeps: "every step, in memory" },
  "tutti-durable": { title: "Tutti", keeps: "every step, on disk" },
  "tutti-once": { title: "Tutti, the tool never repeated", keeps: "every step and its start, on disk" },
  ai: { title: "AI SDK 7.0.169", packages: ["ai@7.0.169"], keeps: "nothing" },
  "openai-agents": { title: "OpenAI Agents 0.20.0", packages: ["@openai/agents@0.20.0"], keeps: "nothing" },
  langgraph: {
    title: "LangGraph 1.4.18",
    packages: langgraph,
    overrides: { "better-sqlite3": "13.1.1" },
    keeps: "nothing",
  },
  "langgraph-durable": { title: "LangGraph 1.4.18, SQLite saver", in: "langgraph", keeps: "every step, on disk" },
  mastra: { title: "Mastra 1.71.0", packages: ["@mastra/core@1.71.0"], keeps: "nothing" },
  voltagent: { title: "VoltAgent 2.10.0", packages: ["@voltagent/core@2.10.0", "ai@6.0.326"], keeps: "nothing" },
  "agent-kit": { title: "AgentKit 0.13.2", packages: ["@inngest/agent-kit@0.13.2"], keeps: "nothing" },
  adk: { title: "Google ADK 2.0.0", packages: ["@google/adk@2.0.0"], keeps: "a session, in memory" },
};

const Figures = z.object({
  import_ms: z.number(),
  alone_cpu_ms: z.number(),
  alone_wall_ms: z.number(),
  at_64_cpu_ms: z.number(),
  at_64_per_s: z.number(),
  loaded_mb: z.number(),
  peak_mb: z.number(),
  disk_kb: z.number(),
  content_kb: z.number(),
});
const Children = z.object({
  children_100_at_50_ms: z.number(),
  fan_out_1000_cpu_ms: z.number(),
  fan_out_1000_warm_cpu_ms: z.number(),
  fan_out_peak_mb: z.number(),
});
type Figures = z.infer<typeof Figures> & Partial<z.infer<typeof Children>>;

const { values } = parseArgs({
  options: {
    /** Where the peers are installed; kept when it is given. */
    folder: { type: "string" },
    rounds: { type: "string", default: "3" },
    runs: { type: "string", default: "2000" },
    only: { type: "string", multiple: true },
    /** Writes the table into the page. */
    write: { type: "boolean", default: false },
  },
});
const place = values.folder ?? mkdtempSync(join(tmpdir(), "tutti-peers-"));
const wanted = Object.entries(peers).filter(([name]) => values.only === undefined || values.only.includes(name));

function run(command: string, args: readonly string[], { cwd, timeout }: { cwd: string; timeout: number }): string {
  const ended = spawnSync(command, args, { cwd, encoding: "utf8", timeout, killSignal: "SIGKILL", maxBuffer: 2 ** 28 });
  if (ended.status === 0) return ended.stdout;
  if (ended.error !== undefined && "code" in ended.error && ended.error.code === "ETIMEDOUT") {
    throw new Error(`\`${command} ${args[0] ?? ""}\` was stopped after ${timeout / 1_000} s`);
  }
  const said = `${ended.error?.message ?? ""}${ended.stderr}`.trim().split("\n");
  throw new Error(said.find((line) => /error/i.test(line)) ?? said.at(-1) ?? "it failed");
}

const folderOf = (name: string): string => join(place, peers[name]?.in ?? (peers[name]?.packages ? name : "own"));

/** Scripts of packages do not run: what has a native part brings it along. Throws when it takes too long. */
async function install(name: string, { packages, overrides, in: shared }: Peer): Promise<void> {
  const folder = folderOf(name);
  if (shared !== undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(import.meta.dirname).filter((each) => each.endsWith(".js")))
    cpSync(join(import.meta.dirname, file), join(folder, file));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", overrides }));
  if (packages === undefined) return installOwn(folder);
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"];
  run("npm", ["install", ...quiet, ...packages, zod], { cwd: folder, timeout: installMs });
}

/** The library as it is published. */
async function installOwn(folder: string): Promise<void> {
  const own = join(folder, "node_modules", "tutti");
  rmSync(own, { recursive: true, force: true });
  mkdirSync(join(own, "dist", "protocol"), { recursive: true });
  await bundleLibrary(join(own, "dist", "node"));
  const error = readFileSync(join(root, "src", "protocol", "error.ts"), "utf8");
  const { code } = await transform(error, { loader: "ts" });
  writeFileSync(join(own, "dist", "protocol", "error.js"), code);
  cpSync(join(root, "package.json"), join(own, "package.json"));
  for (const name of ["zod", "pino", "ws"]) {
    rmSync(join(folder, "node_modules", name), { force: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
}

/** The round that was disturbed least by whatever else the machine did. */
function best(field: keyof Figures, numbers: readonly number[]): number {
  return field === "at_64_per_s" ? Math.max(...numbers) : Math.min(...numbers);
}

/** What the program prints on its last line, in a process of its own. */
function measure(name: string, args: readonly string[]): unknown {
  const all = ["--expose-gc", "measure-peer.js", name, ...args];
  const said = run(process.execPath, all, { cwd: folderOf(name), timeout: measureMs });
  return JSON.parse(said.trimEnd().split("\n").at(-1) ?? "");
}

const rows = new Map<string, Figures[]>();
const missing = new Map<string, string>();
const note = (name: string, thrown: unknown): void =>
  void missing.set(name, thrown instanceof Error ? thrown.message : String(thrown));
for (const [name, peer] of wanted) {
  try {
    await install(name, peer);
  } catch (thrown) {
    note(name, thrown);
  }
}
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const [name] of wanted) {
    if (missing.has(name)) continue;
    try {
      const figures = Figures.parse(measure(name, ["runs", "200", values.runs]));
      const children = /bare-durable|tutti-once/.test(name) ? {} : Children.parse(measure(name, ["children"]));
      rows.set(name, [...(rows.get(name) ?? []), { ...figures, ...children }]);
      process.stderr.write(`round ${round + 1}: ${name}\n`);
    } catch (thrown) {
      note(name, thrown);
    }
  }
}

const columns: readonly [string, keyof Figures, number][] = [
  ["CPU ms alone", "alone_cpu_ms", 2],
  ["ms alone", "alone_wall_ms", 2],
  ["CPU ms, 64 at once", "at_64_cpu_ms", 2],
  ["runs/s, 64 at once", "at_64_per_s", 0],
  ["import ms", "import_ms", 0],
  ["MB loaded", "loaded_mb", 0],
  ["MB at most", "peak_mb", 0],
  ["KB of disk", "disk_kb", 1],
  ["100 children at 50 ms: ms", "children_100_at_50_ms", 0],
  ["1,000 children: CPU ms", "fan_out_1000_cpu_ms", 0],
  ["the same, warm", "fan_out_1000_warm_cpu_ms", 0],
  ["1,000 children: MB at most", "fan_out_peak_mb", 0],
];
const lines = [
  `| library | keeps | ${columns.map(([title]) => title).join(" | ")} |`,
  `| --- | --- | ${columns.map(() => "---:").join(" | ")} |`,
  ...wanted.flatMap(([name, { title, keeps }]) => {
    const measured = rows.get(name);
    if (measured === undefined) return [];
    const cells = columns.map(([, field, digits]) => {
      const found = measured.flatMap((each) => each[field] ?? []);
      return found.length === 0 ? "" : best(field, found).toFixed(digits);
    });
    return [`| ${title} | ${keeps} | ${cells.join(" | ")} |`];
  }),
];
const failed = [...missing].map(([name, why]) => `- ${peers[name]?.title ?? name} could not be measured: ${why}`);
const table = [...lines, ...(failed.length === 0 ? [] : ["", ...failed])].join("\n");
console.log(table);
if (values.write) {
  const page = join(root, "docs", "benchmarks.md");
  const marked = /(<!-- peers begin -->)[\s\S]*?(<!-- peers end -->)/;
  writeFileSync(page, readFileSync(page, "utf8").replace(marked, `$1\n\n${table}\n\n$2`));
}
if (values.folder === undefined) rmSync(place, { recursive: true, force: true });
