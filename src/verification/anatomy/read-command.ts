// What a command of a check does with the files in its words: it judges them, runs them, or runs the tests of a project.

export interface ReadCommand {
  /** The plain name of the program, without folders, launchers and versions, such as `jest` for `npx jest@29`. */
  readonly tool: string;
  /** The word that named it. */
  readonly program: string;
  readonly args: readonly string[];
  readonly kind:
    | "judge"
    | "compare"
    | "shell"
    | "manager"
    | "make"
    | "tasks"
    | "runner"
    | "interpreter"
    | "quiet"
    | "other";
}

const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** They judge the files that they are given: the files are the work then, and the settings are the check. */
const linters = set(
  "tsc vue-tsc tsgo eslint oxlint prettier oxfmt biome knip stylelint ruff black isort mypy pyright flake8 pylint gofmt vet " +
    "golangci-lint shellcheck rubocop rustfmt clang-format clang-tidy hadolint yamllint markdownlint markdownlint-cli2 vale " +
    "xmllint codespell cspell lychee htmlhint ajv taplo",
);
/** They only look at files, and have no settings. */
const lookers = set(
  "grep egrep fgrep rg ag ack test [ [[ cat head tail wc ls stat jq yq file sha256sum sha1sum md5sum awk gawk sed cut tr sort " +
    "uniq tee find basename dirname",
);
const comparers = set("diff cmp colordiff sdiff comm");
const shells = set("sh bash dash zsh ksh ash");
const managers = set("npm pnpm yarn bun run-s run-p npm-run-all npm-run-all2 concurrently turbo nx lerna wireit rushx");
const makers = set("make gmake bmake");
const tasks = set("just task tox nox rake invoke inv doit mise poe hatch thor");
const runners = set(
  "jest vitest mocha ava tap tape playwright cypress jasmine karma uvu borp web-test-runner wtr qunit pytest py.test unittest " +
    "nose2 nosetests trial stestr rspec minitest phpunit pest ctest bats prove dotnet mvn mvnw gradle gradlew sbt swift mix cargo go",
);
const interpreters = set("node nodejs deno tsx ts-node python pypy ruby perl php lua Rscript julia java");
/** They read no file that matters, and prove nothing. */
const quiet = set(
  "true false : echo printf cd set export exit return shift local unset trap sleep mkdir rm cp mv touch chmod pwd git which command umask read eval",
);
/** Programs whose first argument that is no option is the program to run. */
const launchers = set(
  "npx pnpx bunx env time timeout nice xvfb-run uvx xargs exec cross-env cross-env-shell dotenv c8 nyc stdbuf sudo nohup ionice",
);
const runWords = set("run exec dlx x --");
const launchingManagers = set("uv poetry pdm pipenv rye hatch coverage pnpm npm yarn bun bundle");

export function readCommand(words: readonly string[]): ReadCommand | undefined {
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? "";
    const name = plainName(word);
    if (/^[A-Za-z_]\w*=/.test(word)) at += 1;
    else if (launchers.has(name)) {
      at += 1;
      while (/^-|^\d+[smh]?$|^[A-Za-z_]\w*=/.test(words[at] ?? "")) at += 1;
    } else if (launchingManagers.has(name) && launchedAt(words, at) !== undefined) at = launchedAt(words, at) ?? at + 1;
    else break;
  }
  const program = words[at];
  if (program === undefined) return undefined;
  const tool = plainName(program);
  let args = words.slice(at + 1);
  if (/^(?:python|pypy)$/.test(tool)) {
    const index = args.findIndex((word) => !word.startsWith("-") || word === "-m");
    const module = args[index] === "-m" ? args[index + 1] : undefined;
    if (module !== undefined) {
      args = args.slice(index + 2);
      return {
        tool: module,
        program: module,
        args,
        kind: runners.has(module) ? "runner" : linters.has(module) ? "judge" : "other",
      };
    }
  }
  return { tool, program, args, kind: kindOf(tool, args) };
}

/** Where the program of `uv run …` or `npm exec -- …` is; undefined when the manager runs a script or itself. */
function launchedAt(words: readonly string[], at: number): number | undefined {
  const isScripts = managers.has(plainName(words[at] ?? ""));
  const next = words[at + 1];
  if (next === undefined || !runWords.has(next) || (isScripts && next === "run")) return undefined;
  let index = at + 2;
  while (words[index]?.startsWith("-") === true) index += 1;
  return index < words.length ? index : undefined;
}

function kindOf(tool: string, args: readonly string[]): ReadCommand["kind"] {
  if (comparers.has(tool)) return "compare";
  if (linters.has(tool) || lookers.has(tool)) return "judge";
  if (shells.has(tool)) return "shell";
  if ((tool === "bun" || tool === "deno") && args[0] === "test") return "runner";
  if (tool === "cargo" || tool === "go") return /^(?:fmt|clippy|vet)$/.test(args[0] ?? "") ? "judge" : "runner";
  if (managers.has(tool)) return "manager";
  if (makers.has(tool)) return "make";
  if (tasks.has(tool)) return "tasks";
  if (/^(?:node|nodejs|tsx)$/.test(tool) && args.some((word) => /^--test(?:=|$|-)/.test(word))) return "runner";
  if (runners.has(tool)) return "runner";
  if (interpreters.has(tool)) return "interpreter";
  return quiet.has(tool) ? "quiet" : "other";
}

/** Options whose value says how the program runs, whatever the program is. */
const settingOption =
  /^(?:-c|-p|-r|-f|--(?:config|project|rules?dir|require|import|loader|experimental-loader|setup|setup-files?|preload|rcfile|conf|settings|file|makefile|ignore-path|confcutdir|rootdir|env-file)\b.*)$/;

/** Whether a command does more than to look at files: what it finds out follows from what the files mean. */
export function isThorough({ kind, tool }: ReadCommand): boolean {
  return /^(?:runner|interpreter|make|manager)$/.test(kind) || linters.has(tool);
}

interface ReadWords {
  readonly settings: readonly string[];
  readonly operands: readonly string[];
}

/** Which words are values of options that say how to run, and which are what the program works on. */
export function readWords({ tool, args }: ReadCommand): ReadWords {
  if (lookers.has(tool)) return { settings: [], operands: args.filter((word) => !word.startsWith("-")) };
  const settings: string[] = [];
  const operands: string[] = [];
  for (const [index, word] of args.entries()) {
    const before = args[index - 1] ?? "";
    if (word.startsWith("-") && word !== "-") {
      const value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : "";
      if (value !== "") settings.push(value);
    } else if (settingOption.test(before) && !before.includes("=")) settings.push(word);
    else operands.push(word);
  }
  return { settings, operands };
}

export function plainName(word: string): string {
  return word
    .slice(word.lastIndexOf("/") + 1)
    .replace(/(?<=.)@.*$/, "")
    .replace(/\.(?:exe|cmd)$/, "")
    .replace(/(?<=[a-z])[\d.]+$/, (found) =>
      /^(?:npm-run-all|nose|markdownlint-cli)$/.test(word.slice(0, -found.length)) ? found : "",
    );
}
