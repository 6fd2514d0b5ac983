// Peak memory of a fan-out of 1,000 children, each with one tool call and an answer, on the built code, against an idle Node.
//
// The engine alone counts; the whole `tutti invoke` with as many children, its command line, agent loop and rehearsal
// model included, is shown beside it.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildBenchmark, buildInto } from "./built-package.ts";
import { inFolder } from "./bench-engine.ts";
import { report, round } from "./measure.ts";

const children = 1_000;
const rounds = 3;

const target = {
  agent: { type: "named", agent_id: "reader" },
  message: {
    role: "user",
    parts: [{ part_type: "text", data: "Look at your part of the map and say what is there." }],
  },
};
const answer = "Nothing but snow to be seen here.";
const file = {
  invocation: { targets: Array.from({ length: children }, () => target), join: "all" },
  agents: { reader: { instructions: "You report on one part of the map.", tools: ["echo"] } },
  script: { rules: [{ turn: 0, call: [{ tool: "echo", args: { text: "north" } }] }, { say: answer }] },
  budget: { tasks: 2 * children },
};
/** Says at the end how much memory the process ever had. */
const probe = `process.on("exit", () => process.stderr.write("\\npeak " + process.resourceUsage().maxRSS + "\\n"))`;

function peakMb(args: readonly string[], cwd: string): { peak: number; stdout: string } {
  const options = { cwd, encoding: "utf8", maxBuffer: 2 ** 28 } as const;
  const preload = ["--import", `data:text/javascript,${encodeURIComponent(probe)}`];
  const child = spawnSync(process.execPath, [...preload, ...args], options);
  const peak = /^peak (\d+)$/m.exec(child.stderr)?.[1];
  if (child.status !== 0 || peak === undefined) throw new Error(`${args.join(" ")}: ${child.stderr.slice(0, 2_000)}`);
  return { peak: Number(peak) / 1024, stdout: child.stdout };
}

function invoke(folder: string, index: number): number {
  const state = join(folder, `state${index}`);
  const { peak, stdout } = peakMb(["bin/tutti.js", "invoke", "fan-out.json", "--json", "--state", state], folder);
  const answered = stdout.split(answer).length - 1;
  if (answered < children) throw new Error(`${answered} of ${children} answered: ${stdout.slice(0, 500)}`);
  return peak;
}

await inFolder(async (folder) => {
  const [package_, engine] = [join(folder, "package"), join(folder, "engine")];
  for (const each of [package_, engine]) mkdirSync(each);
  await buildInto(package_);
  const fanOut = buildBenchmark("fan-out", engine);
  writeFileSync(join(package_, "fan-out.json"), JSON.stringify(file));
  const peaks = Array.from({ length: rounds }, (_, index) => ({
    idle: peakMb(["-e", "0"], folder).peak,
    fanOut: peakMb([fanOut, String(children)], folder).peak,
    invoke: invoke(package_, index),
  }));
  const least = (of: "idle" | "fanOut" | "invoke"): number => Math.min(...peaks.map((peak) => peak[of]));
  report({
    name: "peak-memory",
    ratio: least("fanOut") / least("idle"),
    target: 2.5,
    figures: {
      fan_out_mb: round(least("fanOut"), 1),
      idle_node_mb: round(least("idle"), 1),
      invoke_mb: round(least("invoke"), 1),
      invoke_ratio: round(least("invoke") / least("idle"), 2),
      children,
    },
  });
});
