// Checks the layout: a source file has at most 600 lines (400 is a warning), and no two have the same name unless they play the same role.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";

const [warnAt, failAt] = [400, 600];
const all = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.ts", "*.tsx", "*.js"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(file) && !/\.test\.tsx?$/.test(file));

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

const byRole = Map.groupBy(all, roleOf);
const byName = Map.groupBy(byRole.keys(), (role) => basename(role));
const twice = [...byName].flatMap(([name, roles]) =>
  roles.length > 1 || (byRole.get(roles[0] ?? "")?.length ?? 0) > 1 ? [{ name, roles }] : [],
);
const doubled = twice.filter(
  ({ name, roles }) => name !== "index.ts" && !(roles.length === 1 && roles[0]?.includes("*") === true),
);
for (const { name } of doubled) {
  console.log(`the name ${name} is taken twice: ${all.filter((file) => basename(file) === name).join(", ")}`);
}

const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
const median = sizes.map(({ lines }) => lines).toSorted((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? 0;
console.log(`${sizes.length} source files, ${total} lines, median ${median}, ${long.length} over ${warnAt}`);
if (long.some(({ lines }) => lines > failAt) || doubled.length > 0) process.exitCode = 1;
