// Checks the layout: the length and the names of source files, that only a few of them write to the terminal, and that no command
// is shown with its arguments run together.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";

import { refusedJoins } from "./blank-joins.ts";

/** A source file has at most 600 lines; 400 is a warning. */
const [warnAt, failAt] = [400, 600];
const everything = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.ts", "*.tsx", "*.js"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(file));
const all = everything.filter((file) => !/\.test\.tsx?$/.test(file));

const sizes = all
  .filter((file) => !file.startsWith("test/"))
  .map((file) => ({ file, lines: readFileSync(file, "utf8").split("\n").length - 1 }));
const long = sizes.filter(({ lines }) => lines > warnAt).toSorted((a, b) => b.lines - a.lines);
for (const { file, lines } of long) console.log(`${lines > failAt ? "too long" : "long"}: ${file}, ${lines} lines`);

/** Folders whose subfolders are implementations of one thing: the same name in each is the same role. */
const implementations = ["src/runner", "src/store"];

function roleOf(file: string): string {
  const name = basename(file);
  if (name === "index.ts") return file;
  const parent = dirname(dirname(file));
  return implementations.includes(parent) ? `${parent}/*/${name}` : name;
}

const byRole = Map.groupBy(everything, roleOf);
const byName = Map.groupBy(byRole.keys(), (role) => basename(role));
const twice = [...byName].flatMap(([name, roles]) =>
  roles.length > 1 || (byRole.get(roles[0] ?? "")?.length ?? 0) > 1 ? [{ name, roles }] : [],
);
const doubled = twice.filter(
  ({ name, roles }) => name !== "index.ts" && !(roles.length === 1 && roles[0]?.includes("*") === true),
);
for (const { name } of doubled) {
  console.log(`the name ${name} is taken twice: ${everything.filter((file) => basename(file) === name).join(", ")}`);
}

/** What these write has been made safe: text from outside cannot steer a terminal. Everything else writes through them. */
const writers = new Map([
  ["src/cli/terminal/screen.ts", "all output of the command line"],
  ["src/cli/terminal/terminal-prompt.ts", "prompts"],
  ["src/daemon/project/config-process.ts", "what the code of a config prints"],
  ["src/daemon/lifecycle/serve-daemon.ts", "only looks whether there is a terminal"],
  ["src/daemon/log/line-sink.ts", "the log"],
]);
const writes = /\bprocess\s*(\.|\[["'])\s*(stdout|stderr|_rawDebug)\b|"(node:)?(process|console)"|\bwriteSync\(/;
const stray = all.filter(
  (file) => file.startsWith("src/") && !writers.has(file) && writes.test(readFileSync(file, "utf8")),
);
for (const file of stray) console.log(`${file} writes to the terminal; use src/cli/terminal/screen.ts`);

const shipped = all.filter((file) => /^(?:src|web\/src)\/.*\.[jt]sx?$/.test(file));
const joins = refusedJoins(shipped.map((file) => ({ file, text: readFileSync(file, "utf8") })));
for (const sentence of joins) console.log(sentence);

const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
const median = sizes.map(({ lines }) => lines).toSorted((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? 0;
console.log(`${sizes.length} source files, ${total} lines, median ${median}, ${long.length} over ${warnAt}`);
if (long.some(({ lines }) => lines > failAt) || doubled.length > 0 || stray.length > 0 || joins.length > 0)
  process.exitCode = 1;
