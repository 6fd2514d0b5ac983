// Runs the tests of the project: all of them, or the files that are named as arguments.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const project = join(import.meta.dirname, "..");
const everything = ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts"];

const named = process.argv.slice(2);
// Most tests wait for child processes and timers rather than for a core, so one more runs than there are cores.
const concurrency = availableParallelism() + 1;
const args = ["--test", `--test-concurrency=${concurrency}`, ...(named.length > 0 ? named : everything)];

// Each file runs in a process of its own, and many start further ones: the compiled sources are kept for all of them.
// Tests read the texts of an installed command.
const env = {
  ...process.env,
  TUTTI_COMMAND: "tutti",
  NODE_COMPILE_CACHE: join(project, "node_modules", ".cache", "compiled-tests"),
};
const child = spawn(process.execPath, args, { cwd: project, env, stdio: "inherit" });
const [code] = await once(child, "exit");
process.exitCode = typeof code === "number" ? code : 1;
