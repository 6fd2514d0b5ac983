// Which names and folders test runners, linters and package managers go by, where a project does not say otherwise.

import { nameOf } from "./tree-paths.ts";

const testFolder =
  /^(?:tests?|__tests?__|specs?|__mocks__|__snapshots__|testdata|test-data|test_data|fixtures|__fixtures__|goldens?|e2e|integration-?tests?|cypress|playwright)$/i;
const testName =
  /(?:^|[._-])(?:tests?|specs?|e2e|cy)\.[^/]+$|^test_.+\.py$|^tests?\.py$|^test-.+\.[cm]?[jt]sx?$|^test\.[cm]?[jt]sx?$|[a-z0-9](?:Tests?|Spec|IT)\.\w+$|\.snap$|\.bats$/;
/** The words that people give to what a result is compared with. */
const goldenName = /(?:^|[^a-z])(?:expected|golden|baseline|snapshots?|fixtures?|want)(?:[^a-z]|$)/i;

const judgeSettings =
  /^(?:tsconfig.*\.json|eslint\.config\..+|\.eslint.+|\.prettier.*|prettier\.config\..+|biome\.jsonc?|\.ox.+\.jsonc?|knip\..+|\.stylelint.+|stylelint\.config\..+|\.?ruff\.toml|\.?mypy\.ini|pyrightconfig\.json|\.flake8|\.?pylintrc.*|\.golangci\..+|\.?clippy\.toml|\.?rustfmt\.toml|\.clang-.+|\.shellcheckrc|\.rubocop\.yml|\.yamllint.*|\.markdownlint.*|\.vale\.ini|\.codespellrc|\.?cspell\..+)$/i;
const testSettings =
  /^(?:(?:jest|vitest|vite|playwright|cypress|ava|babel|wdio|nightwatch|web-test-runner|swc|c8|nyc|tap|jasmine)\.config\..+|(?:jest|vitest)\.(?:workspace|projects|setup|preset|shims?)\..+|jasmine\.json|\.mocharc.*|mocha\.opts|karma\.conf\..+|\.taprc|\.nycrc.*|\.c8rc.*|\.babelrc.*|\.swcrc|\.?pytest\.(?:ini|toml)|tox\.(?:ini|toml)|noxfile\.py|\.coveragerc|conftest\.py|phpunit\.xml.*|\.rspec|spec_helper\.rb|rails_helper\.rb|\.?nextest\.toml|deno\.jsonc?|build\.rs|bunfig\.toml|tsconfig.*\.json)$/i;
/** They say how anything is run, whatever it is. */
const runSettings =
  /^(?:gnumakefile|makefile|.+\.mk|\.?justfile|taskfile\.ya?ml|tasks\.py|dodo\.py|rakefile|\.npmrc|\.yarnrc.*|\.?pnpmfile\.[cm]?js|pnpm-workspace\.yaml|lerna\.json|nx\.json|turbo\.json|\.env(?:\..+)?|\.envrc|rust-toolchain(?:\.toml)?|go\.work(?:\.sum)?|\.nvmrc|\.node-version|\.python-version|\.tool-versions|mise\.toml|uv\.toml|pip\.conf|\.pnp\..+)$/i;
/** Python and the shells load them when they start. */
const hooks = /^(?:(?:site|user)customize\.pyc?|.+\.pth|\.pythonstartup|\.bashrc|\.profile|\.zshenv)$/i;
/** Programs that were installed. Nobody but the setup should change them. */
const installed = /^(?:node_modules|\.venv|venv|site-packages|\.yarn|\.cargo|\.pnpm-store|\.tox|\.nox|\.git)$/i;
/** Files of editors, forges and git, which no check loads. */
const inert = /^(?:\.gitignore|\.gitattributes|\.gitkeep|\.keep|\.editorconfig|\.mailmap|\.dockerignore|\.npmignore)$/i;
const inertFolders = /^(?:\.github|\.gitlab|\.vscode|\.idea|\.changeset|\.husky|\.storybook)$/i;

export function isInTestFolder(path: string): boolean {
  return path
    .split("/")
    .slice(0, -1)
    .some((part) => testFolder.test(part));
}

/** A file that a runner would take for a test by its name, or that lies where tests do. */
export function isTestLike(path: string): boolean {
  return isInTestFolder(path) || testName.test(nameOf(path));
}

export function isTestName(path: string): boolean {
  return testName.test(nameOf(path));
}

export function isGoldenName(path: string): boolean {
  return goldenName.test(path);
}

export function isInstalled(path: string): boolean {
  return path.split("/").some((part) => installed.test(part));
}

export function isJudgeSetting(path: string): boolean {
  return judgeSettings.test(nameOf(path));
}

export function isTestSetting(path: string): boolean {
  return testSettings.test(nameOf(path)) || hooks.test(nameOf(path));
}

export function isRunSetting(path: string): boolean {
  return runSettings.test(nameOf(path)) || hooks.test(nameOf(path));
}

/** What takes hold of programs from wherever it lies, so that no honest work needs it to be judged. */
export function isHook(path: string): boolean {
  const name = nameOf(path);
  return (
    hooks.test(name) ||
    isInstalled(path) ||
    /^(?:\.npmrc|\.yarnrc.*|\.?pnpmfile\.[cm]?js|\.pnp\..+|\.env(?:\..+)?)$/i.test(name)
  );
}

/** A name with a dot at its beginning is looked for by some program, unless it is known that no check does. */
export function isDotted(path: string): boolean {
  const parts = path.split("/");
  const at = parts.findIndex((part) => part.startsWith("."));
  const part = parts[at];
  if (part === undefined) return false;
  return !(at === parts.length - 1 ? inert.test(part) : inertFolders.test(part));
}

/** What a test is about, by its name: `total` for `total.test.js`, `test_total.py`, `total_test.go` and `TotalTest.java`. */
export function subjectName(path: string): string {
  return nameOf(path)
    .replace(/\.[^.]+$/, "")
    .replace(/[._-](?:tests?|specs?|e2e|cy|unit)$/i, "")
    .replace(/[._-](?:tests?|specs?|e2e|cy|unit)$/i, "")
    .replace(/^tests?[_-]/i, "")
    .replace(/(?<=[a-z0-9])(?:Tests?|Spec|IT)$/, "")
    .toLowerCase();
}
