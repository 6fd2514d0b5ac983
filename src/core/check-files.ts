// Which of the files that a session changed belong to a check itself: its script, its tests, the settings of its tools.

import type { CheckCommand } from "./check-commands.ts";

/** They judge the files that they are given. The files are the work then, and the settings are the check. */
const judges = new Set(
  (
    "tsc vue-tsc tsgo eslint oxlint prettier oxfmt biome knip stylelint ruff black isort mypy pyright flake8 pylint gofmt " +
    "golangci-lint shellcheck rubocop clippy rustfmt clang-format clang-tidy hadolint yamllint markdownlint " +
    "grep egrep fgrep rg test [ diff cmp cat head tail wc ls stat jq xmllint file sha256sum true false"
  ).split(" "),
);
/** They only start other programs. */
const starters = new Set(["npm", "pnpm", "yarn", "bun", "run-s", "run-p", "npm-run-all", "concurrently", "sh", "bash"]);

const judgeSettings =
  /^(?:tsconfig.*\.json|eslint\.config\..+|\.eslint.+|\.prettier.*|prettier\.config\..+|biome\.jsonc?|\.ox.+\.jsonc?|knip\..+|\.stylelint.+|\.?ruff\.toml|mypy\.ini|\.flake8|\.pylintrc|\.golangci\..+|\.?clippy\.toml|\.?rustfmt\.toml|\.clang-.+|\.shellcheckrc|\.rubocop\.yml|\.yamllint.*|\.markdownlint.*)$/;
const testSettings =
  /^(?:(?:jest|vitest|vite|playwright|cypress|ava|babel|wdio)\.config\..+|vitest\.workspace\..+|\.mocharc.*|karma\.conf\..+|\.taprc|\.nycrc.*|\.c8rc.*|\.babelrc.*|pytest\.ini|tox\.ini|setup\.cfg|noxfile\.py|\.coveragerc|conftest\.py|(?:site|user)customize\.py|phpunit\.xml.*|\.rspec|rakefile|\.?nextest\.toml|deno\.jsonc?)$/;
/** They say how anything is run, whatever it is. */
const runSettings =
  /^(?:gnumakefile|makefile|.+\.mk|\.?justfile|taskfile\.ya?ml|\.npmrc|\.yarnrc.*|\.pnpmfile\.cjs|bunfig\.toml|\.env)$/;
const testFolders =
  /^(?:tests?|__tests?__|specs?|__mocks__|__snapshots__|testdata|e2e|integration-tests?|cypress|playwright)$/;
const testNames =
  /(?:^|[._-])(?:tests?|specs?|e2e)\.[^/]+$|^test_.+\.py$|^test-.+\.[cm]?[jt]s$|[a-z0-9](?:Tests?|Spec|IT)\.\w+$|\.snap$/;
/** Programs that were installed. Nobody but the setup should change them. */
const installed = /^(?:node_modules|\.venv|venv|site-packages|\.yarn|\.cargo)$/;
const scriptFolders = /^(?:scripts?|tools|ci|\.ci|hack|checks?)$/;

export interface CheckedWork {
  readonly commands: readonly CheckCommand[];
  /** The commands that make a checkout ready; only the files that they name belong to the check. */
  readonly setup: readonly CheckCommand[];
  /** The folders that the check and the setup run in, relative to the top; `.` for the top. */
  readonly cwd: string;
  readonly setupCwd: string;
}

/** The paths among `changed` that are the check's own. */
export function checkFiles(changed: readonly string[], { commands, setup, cwd, setupCwd }: CheckedWork): string[] {
  const working = commands.filter(({ tool }) => !starters.has(tool));
  const hasJudge = working.some(({ tool }) => judges.has(tool));
  const judgesOnly = hasJudge && working.every(({ tool }) => judges.has(tool));
  const named = [
    ...commands.flatMap((command) => namedPaths(command, cwd)),
    ...setup.flatMap((command) => namedPaths(command, setupCwd)),
  ];
  const isNamed = matcher(named);
  return changed.filter((path) => {
    const parts = path.split("/");
    const name = parts.at(-1) ?? "";
    if (parts.some((part) => installed.test(part))) return true;
    if (runSettings.test(name.toLowerCase()) || isNamed(path)) return true;
    if (hasJudge && judgeSettings.test(name)) return true;
    if (judgesOnly) return false;
    return (
      testSettings.test(name.toLowerCase()) || parts.some((part) => testFolders.test(part)) || testNames.test(name)
    );
  });
}

/** Relative to the top. A word may be an option with a value, a pattern with stars, or no path at all. */
function namedPaths({ tool, words }: CheckCommand, cwd: string): string[] {
  const isJudge = judges.has(tool);
  return words.flatMap((word, index) => {
    const before = words[index - 1] ?? "";
    // A module of the working folder takes the place of an installed one of the same name.
    if (before === "-m")
      return [`${word.replaceAll(".", "/")}.py`, `${word.replaceAll(".", "/")}/*`].map((each) => inside(cwd, each));
    if (isJudge && !/^(?:-c|-p|--(?:config|project|rules?dir)\b.*)$/.test(before) && !word.startsWith("--")) return [];
    const value = word.startsWith("-") ? word.slice(word.indexOf("=") + 1) : word;
    return value === "" || value.startsWith("-") ? [] : [inside(cwd, value)];
  });
}

/** Whether a path is one of the named files, matches a named pattern, or lies beside a named script. */
function matcher(named: readonly string[]): (path: string) => boolean {
  const files = new Set(named);
  const patterns = named
    .filter((name) => name.includes("*"))
    .map((name): [string, string] => [name.slice(0, name.indexOf("*")), name.slice(name.lastIndexOf("*") + 1)]);
  const folders = new Set(
    named.flatMap((name) => {
      const folder = name.slice(0, Math.max(0, name.lastIndexOf("/")));
      return scriptFolders.test(folder.slice(folder.lastIndexOf("/") + 1)) ? [folder] : [];
    }),
  );
  return (path) =>
    files.has(path) ||
    folders.has(path.slice(0, Math.max(0, path.lastIndexOf("/")))) ||
    patterns.some(([begin, end]) => (begin !== "" || end !== "") && path.startsWith(begin) && path.endsWith(end));
}

function inside(cwd: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${cwd}/${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
