// Runs every benchmark, or the one named, each in a process of its own; ends non-zero if one misses its target.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";

const suffix = ".bench.ts";
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length))
  .toSorted();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark named ${unknown.join(", ")}; there are: ${known.join(", ")}`);
  process.exit(2);
}

let missed = 0;
for (const name of wanted.length > 0 ? wanted : known) {
  const child = spawnSync(process.execPath, ["--expose-gc", `${import.meta.dirname}/${name}${suffix}`], {
    stdio: "inherit",
  });
  if (child.status !== 0) missed += 1;
}
if (missed > 0) {
  console.error(`${missed} of ${wanted.length || known.length} benchmarks missed their target`);
  process.exitCode = 1;
}
