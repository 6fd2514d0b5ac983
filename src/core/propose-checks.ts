// Proposes the checks of a project and the setup of its workspaces, from the files that its tools leave in its folder.

import { z } from "zod";

import { parseJson } from "../protocol/json/parse-json.ts";

export interface Proposal {
  readonly run: readonly [string, ...string[]];
  /** The file that it was found in. */
  readonly from: string;
  /** Why a person should look before it is used; such a proposal is written as a comment. */
  readonly doubt?: string;
}

interface ProposedCheck extends Proposal {
  readonly name: string;
}

export interface ProposedStep extends Proposal {
  /** What it makes, which then is kept as long as `from`, its lock file, stays the same. */
  readonly makes?: string;
}

export interface ProposedSetup {
  readonly checks: readonly ProposedCheck[];
  /** Commands that install what the checks and the sessions need. They use the network. */
  readonly setup: readonly ProposedStep[];
}

/** The text of a file in the project's folder; undefined when there is none. */
export type ReadFile = (name: string) => string | undefined;

const finders: readonly ((read: ReadFile) => ProposedSetup)[] = [fromNode, fromPython, fromCargo, fromGo];
const nothing: ProposedSetup = { checks: [], setup: [] };

export function proposeChecks(read: ReadFile): ProposedSetup {
  const found = finders.map((find) => find(read));
  const known = found.flatMap(({ checks }) => checks);
  const made = fromMake(read).checks.map((check) => {
    const same = known.find(({ name }) => name === check.name);
    return same === undefined ? check : { ...check, doubt: `${same.from} has a check of this name, too` };
  });
  return { checks: uniqueNames([...known, ...made]), setup: found.flatMap(({ setup }) => setup) };
}

/** Two tools may both have tests; the later name gets the file that it comes from. */
function uniqueNames(checks: readonly ProposedCheck[]): ProposedCheck[] {
  const names = new Set<string>();
  return checks.map((check) => {
    const name = names.has(check.name) ? `${check.name} (${check.from})` : check.name;
    names.add(name);
    return { ...check, name };
  });
}

const PackageJson = z.object({ scripts: z.record(z.string(), z.string()).default({}).catch({}) });

const lockFiles = {
  "package-lock.json": ["npm", "ci"],
  "npm-shrinkwrap.json": ["npm", "ci"],
  "pnpm-lock.yaml": ["pnpm", "install", "--frozen-lockfile"],
  "bun.lock": ["bun", "install", "--frozen-lockfile"],
  "bun.lockb": ["bun", "install", "--frozen-lockfile"],
} as const;

const scriptNames: Readonly<Record<string, readonly string[]>> = {
  test: ["test"],
  lint: ["lint"],
  typecheck: ["typecheck", "type-check", "check-types", "types"],
};

function fromNode(read: ReadFile): ProposedSetup {
  const text = read("package.json");
  if (text === undefined) return nothing;
  const from = "package.json";
  const { scripts } = PackageJson.safeParse(parseJson(text)).data ?? { scripts: {} };
  const yarn = read("yarn.lock");
  const lock = Object.entries(lockFiles).find(([name]) => read(name) !== undefined);
  const manager = yarn === undefined ? (lock?.[1][0] ?? "npm") : "yarn";
  const checks = Object.entries(scriptNames).flatMap(([name, others]): ProposedCheck[] => {
    const script = others.find((each) => Object.hasOwn(scripts, each));
    if (script === undefined || /no test specified/.test(scripts[script] ?? "")) return [];
    const run: Proposal["run"] = script === "test" && manager !== "bun" ? [manager, "test"] : [manager, "run", script];
    return [{ name, run, from, ...doubtOf(scripts[script] ?? "") }];
  });
  if (yarn !== undefined) {
    // The first version has another option for the same thing.
    const old = yarn.includes("# yarn lockfile v1");
    const run: Proposal["run"] = ["yarn", "install", old ? "--frozen-lockfile" : "--immutable"];
    // Later versions need not make the folder.
    return { checks, setup: [{ run, from: "yarn.lock", ...(old ? { makes: "node_modules" } : {}) }] };
  }
  return { checks, setup: lock === undefined ? [] : [{ run: lock[1], from: lock[0], makes: "node_modules" }] };
}

function doubtOf(script: string): { readonly doubt?: string } {
  if (/--watch\b|\bwatch\b|nodemon/.test(script)) return { doubt: "the script seems to watch files and never end" };
  return /--fix\b|--write\b/.test(script) ? { doubt: "the script seems to change files" } : {};
}

function fromPython(read: ReadFile): ProposedSetup {
  const files = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", "requirements.txt"];
  const found = files.filter((name) => read(name) !== undefined);
  const [from] = found;
  if (from === undefined) return nothing;
  const text = [...found, "requirements-dev.txt"].map((name) => read(name) ?? "").join("\n");
  const launcher = launcherOf(read);
  const tool = (...words: [string, ...string[]]): Proposal["run"] => {
    const [first, ...rest] = [...launcher, ...words];
    return [first ?? words[0], ...rest];
  };
  const named = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(text);
  const test: ProposedCheck = named("pytest")
    ? { name: "test", run: launcher.length === 0 ? ["python3", "-m", "pytest"] : tool("pytest"), from }
    : { name: "test", run: tool("python3", "-m", "unittest"), from, doubt: "no test runner is named" };
  const checks: ProposedCheck[] = [test];
  if (named("ruff")) checks.push({ name: "lint", run: tool("ruff", "check", "."), from });
  if (named("mypy")) checks.push({ name: "typecheck", run: tool("mypy", "."), from });
  return { checks, setup: pythonSetup(read) };
}

function launcherOf(read: ReadFile): string[] {
  if (read("uv.lock") !== undefined) return ["uv", "run"];
  return read("poetry.lock") === undefined ? [] : ["poetry", "run"];
}

function pythonSetup(read: ReadFile): ProposedStep[] {
  if (read("uv.lock") !== undefined) return [{ run: ["uv", "sync", "--frozen"], from: "uv.lock" }];
  if (read("poetry.lock") !== undefined) return [{ run: ["poetry", "install"], from: "poetry.lock" }];
  const from = "requirements.txt";
  if (read(from) === undefined) return [];
  const doubt = "it installs outside of the workspace unless there is a virtual environment";
  return [{ run: ["python3", "-m", "pip", "install", "-r", from], from, doubt }];
}

function fromCargo(read: ReadFile): ProposedSetup {
  const from = "Cargo.toml";
  if (read(from) === undefined) return nothing;
  const checks: ProposedCheck[] = [
    { name: "test", run: ["cargo", "test"], from },
    { name: "lint", run: ["cargo", "clippy", "--", "-D", "warnings"], from, doubt: "clippy may not be installed" },
  ];
  const lock = "Cargo.lock";
  return { checks, setup: read(lock) === undefined ? [] : [{ run: ["cargo", "fetch", "--locked"], from: lock }] };
}

function fromGo(read: ReadFile): ProposedSetup {
  const from = "go.mod";
  if (read(from) === undefined) return nothing;
  const checks: ProposedCheck[] = [
    { name: "test", run: ["go", "test", "./..."], from },
    { name: "lint", run: ["go", "vet", "./..."], from },
  ];
  const lock = "go.sum";
  return { checks, setup: read(lock) === undefined ? [] : [{ run: ["go", "mod", "download"], from: lock }] };
}

function fromMake(read: ReadFile): ProposedSetup {
  const from = ["Makefile", "makefile", "GNUmakefile"].find((name) => read(name) !== undefined);
  if (from === undefined) return nothing;
  const text = read(from) ?? "";
  const targets = ["test", "lint", "typecheck", "check"].filter((name) =>
    new RegExp(`^${name}\\s*:(?!=)`, "m").test(text),
  );
  // `check` is often all of the others.
  const chosen = targets.length > 1 ? targets.filter((name) => name !== "check") : targets;
  return { checks: chosen.map((name) => ({ name, run: ["make", name], from })), setup: [] };
}
