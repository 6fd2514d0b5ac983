// Runs the blocks of one page in order, in one shell, from a fresh folder that looks like a clone with the command installed.

import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

import { tempFolder } from "../support/temp-folder.ts";
import type { DocBlock, ShownCommand } from "./doc-blocks.ts";
import { type KnownIds, missingLine, withKnownIds } from "./shown-output.ts";

const root = join(import.meta.dirname, "..", "..");
const patience = 240_000;
/** These commands only look, and a person would look later than this script does. So they look again for a while. */
const looks = /^(?:tutti (?:asks|tasks|status|operators|show|logs)|cat)\b/;
const lookAgainMs = 20_000;

/** Throws with the line of the page, the command and what it printed when a command does not do what the page shows. */
export async function runPage(t: TestContext, blocks: readonly DocBlock[]): Promise<void> {
  const { home, clone, env } = makeClone(t);
  const shell = startShell(clone, env);
  const ids: KnownIds = new Map();
  const outputs: string[] = [];
  /** Undefined when the command did what the page shows. */
  const problemOf = async (line: number, { command, output, status }: ShownCommand): Promise<string | undefined> => {
    const full = withKnownIds(command, ids, outputs);
    const ended = await shell.run(full);
    outputs.push(ended.output);
    const told = `line ${line}: ${full}\nstatus ${ended.status}, printed:\n${ended.output}`;
    if (ended.status !== status) return `expected status ${status}\n${told}`;
    if (output === undefined) return undefined;
    const printed = ended.output === "" ? [] : ended.output.replace(/\n$/, "").split("\n");
    const missing = missingLine(output, printed, { ids, places: { home, clone } });
    return missing === undefined ? undefined : `the page shows, but this was not printed:\n${missing}\n${told}`;
  };
  const run = async (line: number, shown: ShownCommand): Promise<void> => {
    const end = Date.now() + (looks.test(shown.command) ? lookAgainMs : 0);
    for (;;) {
      const problem = await problemOf(line, shown);
      if (problem === undefined) return;
      if (Date.now() >= end) throw new Error(problem);
    }
  };
  try {
    for (const block of blocks) {
      if (block.kind === "json") JSON.parse(block.text);
      if (block.kind === "file") {
        const file = join(block.name.startsWith("~/") ? home : clone, block.name.replace(/^~\//, ""));
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, block.text);
      }
      if (block.kind !== "commands") continue;
      for (const command of block.commands) await run(block.line, command);
    }
  } finally {
    await shell.close();
  }
}

interface Clone {
  readonly home: string;
  readonly clone: string;
  readonly env: NodeJS.ProcessEnv;
}

function makeClone(t: TestContext): Clone {
  const folder = tempFolder(t, "tutti-docs-");
  const [home, clone, bin] = [join(folder, "home"), join(folder, "tutti"), join(folder, "bin")];
  const temporary = join(folder, "tmp");
  for (const each of [home, clone, bin, temporary]) mkdirSync(each, { mode: 0o700 });
  cpSync(join(root, "examples"), join(clone, "examples"), { recursive: true });
  symlinkSync(join(root, "bin"), join(clone, "bin"));
  symlinkSync(process.execPath, join(bin, "node"));
  mkdirSync(join(clone, "node_modules", ".bin"), { recursive: true });
  symlinkSync(process.execPath, join(clone, "node_modules", ".bin", "node"));
  symlinkSync(join(root, "bin", "tutti.js"), join(bin, "tutti"));
  // A program in the folder finds the library, as it does after the installation.
  const library = join(clone, "node_modules", "tutti");
  mkdirSync(library);
  const parts = { ".": "index.ts", "./client": "client/index.ts", "./testing": "library/testing.ts" };
  const files = Object.entries(parts).map(([name, source], at) => ({ name, source, file: `./part-${at}.js` }));
  const exports = Object.fromEntries(files.map(({ name, file }) => [name, file]));
  writeFileSync(join(library, "package.json"), JSON.stringify({ type: "module", exports }));
  for (const { source, file } of files)
    writeFileSync(join(library, file), `export * from ${JSON.stringify(join(root, "src", source))};`);
  symlinkSync(join(root, "node_modules", "zod"), join(clone, "node_modules", "zod"));
  writeFileSync(join(clone, "package.json"), `{"type":"module"}`);
  const env = {
    TUTTI_COMMAND: "tutti",
    PATH: `${bin}:${process.env["PATH"]}`,
    HOME: home,
    TMPDIR: temporary,
    NO_COLOR: "1",
    LANG: "C.UTF-8",
    DOC_DATABASE: process.env["DOC_DATABASE"] ?? "",
  };
  return { home, clone, env };
}

interface Shell {
  /** Ends its background jobs and the daemon that the page left. */
  close(): Promise<void>;
  run(command: string): Promise<{ readonly status: number; readonly output: string }>;
}

/** One shell for the whole page, so that variables and background jobs last. */
function startShell(clone: string, env: NodeJS.ProcessEnv): Shell {
  const child = spawn("bash", ["--norc"], { cwd: clone, env, stdio: ["pipe", "pipe", "inherit"] });
  const files = { command: join(dirname(clone), "command.sh"), output: join(dirname(clone), "output.txt") };
  let said = "";
  let heard: () => void = () => undefined;
  child.stdout.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    heard();
  });
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  return {
    async close() {
      child.stdin.end("kill $(jobs -p) 2>/dev/null; tutti down --force >/dev/null 2>&1; exit\n");
      await ended;
    },
    run(command) {
      said = "";
      writeFileSync(files.command, `${command}\n`);
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`took too long: ${command}`)), patience);
        heard = () => {
          const [, status] = /^ended (\d+)$/m.exec(said) ?? [];
          if (status === undefined) return;
          clearTimeout(late);
          const output = existsSync(files.output) ? readFileSync(files.output, "utf8") : "";
          resolve({ status: Number(status), output });
        };
        child.stdin.write(`. '${files.command}' </dev/null >'${files.output}' 2>&1\necho "ended $?"\n`);
      });
    },
  };
}
