// `npm run fuzz -- --seconds N --seed S`: random requests to every route of a real daemon; the last line is the count of outcomes.

import { parseArgs } from "node:util";

import { runFuzz } from "./run-fuzz.ts";

const { values } = parseArgs({ options: { seconds: { type: "string" }, seed: { type: "string" } } });
const seconds = Number(values.seconds ?? 30);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (!(seconds > 0) || !Number.isInteger(seed)) throw new Error("--seconds is a number above 0, --seed a whole number");

console.log(`seed ${seed}, ${seconds} s`);
const report = await runFuzz({ seconds, seed });
const { requests, server_errors, hangs, crashes, undeclared, memory } = report;
const mebi = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
console.log(`statuses ${JSON.stringify(report.statuses)}`);
console.log(`operations that did what was asked: ${report.succeeded.length} (${report.succeeded.join(" ")})`);
console.log(
  `memory ${mebi(memory.middle)} in the middle, ${mebi(memory.end)} at the end, ${mebi(memory.most)} at the most${memory.grew ? ": it grows" : ""}`,
);
for (const finding of report.findings) console.log(finding);
if (undeclared > 0) console.log(`undeclared ${undeclared}`);
console.log(JSON.stringify({ requests, server_errors, hangs, crashes }));
if (server_errors + hangs + crashes + undeclared > 0) process.exitCode = 1;
