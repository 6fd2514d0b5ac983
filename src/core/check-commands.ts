// The commands that a check runs, as far as they can be read: its own words, and the scripts of package.json that they lead to.

export interface CheckCommand {
  /** The plain name of the program, without folders, launchers and versions, such as `jest` for `npx jest@29`. */
  readonly tool: string;
  readonly words: readonly string[];
}

const shells = new Set(["sh", "bash", "dash", "zsh", "ksh"]);
const managers = new Set(["npm", "pnpm", "yarn", "bun"]);
/** Programs whose first argument that is no option is the program to run. */
const launchers = new Set([
  "npx",
  "pnpx",
  "bunx",
  "env",
  "time",
  "timeout",
  "nice",
  "xvfb-run",
  "uv",
  "uvx",
  "poetry",
  "pdm",
]);
const launcherWords = new Set(["run", "exec", "dlx", "x", "--"]);
/** A script may lead to others, and to itself. */
const mostCommands = 200;

/** `scripts`: the scripts of package.json, on the base and in the session's version. */
export function checkCommands(
  argv: readonly string[],
  scripts: readonly Readonly<Record<string, string>>[],
): CheckCommand[] {
  const commands: CheckCommand[] = [];
  const followed = new Set<string>();
  const open: (readonly string[])[] = [argv];
  for (const words of open) {
    if (commands.length >= mostCommands) break;
    const command = commandOf(words);
    if (command === undefined) continue;
    commands.push(command);
    if (shells.has(command.tool))
      open.push(...linesOf(words.find((_, index) => /^-\w*c$/.test(words[index - 1] ?? ""))));
    if (!managers.has(command.tool) && !/^(?:run-[sp]|npm-run-all2?|concurrently|turbo|nx|lerna)$/.test(command.tool))
      continue;
    for (const name of words.flatMap((word) => [word, `pre${word}`, `post${word}`])) {
      if (followed.has(name)) continue;
      followed.add(name);
      for (const each of scripts) if (Object.hasOwn(each, name)) open.push(...linesOf(each[name]));
    }
  }
  return commands;
}

/** The commands of a line for a shell. Roughly: what is in quotes is taken for words as well. */
function linesOf(line = ""): string[][] {
  return line
    .slice(0, 20_000)
    .split(/[;&|()\n]+/)
    .map((part) => part.split(/[\s"'`<>]+/).filter((word) => word !== ""));
}

function commandOf(words: readonly string[]): CheckCommand | undefined {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? "";
    const name = plainName(word);
    const isPrefix = /^[A-Za-z_]\w*=/.test(word) || launchers.has(name) || launcherWords.has(word);
    if (!isPrefix && !(at > 0 && word.startsWith("-"))) break;
    at += 1;
  }
  const first = words[at];
  if (first === undefined) return words[0] === undefined ? undefined : { tool: plainName(words[0]), words };
  const name = plainName(first);
  // `python -m pytest` runs pytest.
  const module = /^(?:python|pypy)$/.test(name) ? words[words.indexOf("-m", at) + 1] : undefined;
  return { tool: words.includes("-m", at) && module !== undefined ? plainName(module) : name, words };
}

function plainName(word: string): string {
  return word
    .slice(word.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/@.*$/, "")
    .replace(/\.(?:exe|cmd|js|mjs|cjs)$/, "")
    .replace(/(?<=[a-z])[\d.]+$/, "");
}
