// Reports source files that outgrow one idea: 400 lines is a warning, 600 fails the check.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const [warnAt, failAt] = [400, 600];
const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "*.ts", "*.tsx", "*.js"], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "" && existsSync(file) && !/\.test\.tsx?$|^test\//.test(file));
const sizes = files.map((file) => ({ file, lines: readFileSync(file, "utf8").split("\n").length - 1 }));
const long = sizes.filter(({ lines }) => lines > warnAt).toSorted((a, b) => b.lines - a.lines);
for (const { file, lines } of long) console.log(`${lines > failAt ? "too long" : "long"}: ${file}, ${lines} lines`);
const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
const median = sizes.map(({ lines }) => lines).toSorted((a, b) => a - b)[Math.floor(sizes.length / 2)] ?? 0;
console.log(`${sizes.length} source files, ${total} lines, median ${median}, ${long.length} over ${warnAt}`);
if (long.some(({ lines }) => lines > failAt)) process.exitCode = 1;
