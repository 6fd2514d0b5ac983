// Of a package.json the parts that say how checks run: the base's are kept, and the rest is work like any other.

import { exportsWithBase } from "./package-exports.ts";
import { dependencyFields, keysOf, packageOf, readPackage } from "./package-names.ts";
import { plainName } from "./read-command.ts";

export interface PackageChange {
  readonly session: string;
  /** Undefined when the session added the file. */
  readonly base: string | undefined;
  /** Programs that the check uses, by their plain names. */
  readonly tools: ReadonlySet<string>;
  /** Names of packages that the base declares or is. */
  readonly isKnown: (name: string) => boolean;
  /** Scripts of the session's that stay where the base has none of that name. */
  readonly keepsScript: (line: string) => boolean;
  /** Whether a file that the base's package.json names, perhaps with a star, belongs to the check. */
  readonly isCheck: (target: string) => boolean;
}

/** Settings of tools, and of the package manager. */
const wholeParts = [
  "jest",
  "mocha",
  "ava",
  "tap",
  "vitest",
  "nyc",
  "c8",
  "babel",
  "eslintConfig",
  "eslintIgnore",
  "prettier",
  "stylelint",
  "wireit",
  "config",
  "xo",
  "standard",
  "lint-staged",
  "tsd",
  "uvu",
  "jasmine",
  "playwright",
  "cypress",
  "nx",
  "turbo",
  "overrides",
  "resolutions",
  "pnpm",
  "packageManager",
  "devEngines",
  "patchedDependencies",
  "trustedDependencies",
  "volta",
  "dependenciesMeta",
  "bundleDependencies",
  "bundledDependencies",
  "installConfig",
  "allowScripts",
  "catalog",
  "catalogs",
] as const;
/** New names in them cannot change what the base's names mean. */
const keyedParts = ["imports"] as const;
/** Where a package begins whose name is imported. */
const beginnings = ["main", "module", "browser"] as const;
const everyonesPrograms = new Set([
  "node",
  "npm",
  "npx",
  "pnpm",
  "yarn",
  "bun",
  "sh",
  "bash",
  "python",
  "env",
  "git",
  "make",
  "test",
]);
const emptyScript = /^echo "?(?:Error: )?no test specified"? && exit 1$/i;

/** A package manager runs it around a script of the base, or with an installation, although nothing names it. */
function isHook(name: string, scripts: Readonly<Record<string, unknown>>): boolean {
  const [, of = ""] = /^(?:pre|post)(.+)$/.exec(name) ?? [];
  return (
    Object.hasOwn(scripts, of) ||
    ["install", "prepare", "publish", "pack", "version"].includes(of) ||
    installing.has(name)
  );
}

const installing = new Set(["install", "prepare", "dependencies"]);

/** The session's file with the base's way to run checks; undefined when both run them the same way. */
export function packageWithBase({
  session,
  base,
  tools,
  isKnown,
  keepsScript,
  isCheck,
}: PackageChange): string | undefined {
  const one = readPackage(session);
  const other = base === undefined ? {} : readPackage(base);
  if (one === undefined || other === undefined) return session === base ? undefined : base;
  const mixed: Record<string, unknown> = { ...one };
  const put = (key: string, value: unknown): void => {
    if (value === undefined) delete mixed[key];
    else mixed[key] = value;
  };
  for (const key of wholeParts) put(key, other[key]);
  for (const key of keyedParts)
    if (isRecord(one[key]) || isRecord(other[key])) put(key, { ...record(one[key]), ...record(other[key]) });
  for (const key of beginnings) {
    const begins = other[key];
    if (typeof begins === "string" && isCheck(begins)) put(key, begins);
  }
  for (const key of ["exports", "imports"]) {
    const entries = exportsWithBase(mixed[key], other[key], isCheck);
    if (entries === mixed[key]) continue;
    put(key, entries);
    // Under another name, the package would not find itself any more.
    put("name", other["name"]);
  }
  const scripts = record(other["scripts"]);
  const added = Object.entries(record(one["scripts"])).filter(([name, line]) => {
    const before = scripts[name];
    if (before !== undefined && !(typeof before === "string" && emptyScript.test(before))) return false;
    return typeof line === "string" && keepsScript(line) && !isHook(name, scripts);
  });
  const kept = { ...scripts, ...Object.fromEntries(added) };
  if (isRecord(one["scripts"]) || isRecord(other["scripts"]))
    put("scripts", Object.keys(kept).length === 0 ? undefined : kept);
  const provides = (name: string): boolean =>
    tools.has(plainName(name)) || tools.has(name.slice(name.lastIndexOf("/") + 1));
  for (const field of dependencyFields) {
    const [mine, theirs] = [record(one[field]), record(other[field])];
    if (!isRecord(one[field]) && !Object.keys(theirs).some(provides)) continue;
    const list: Record<string, unknown> = { ...mine };
    for (const [name, spec] of Object.entries(mine)) {
      const before = theirs[name];
      if (spec === before) continue;
      // A dependency that moves to another list keeps its source.
      const elsewhere = dependencyFields.map((each) => record(other[each])[name]).find((each) => each !== undefined);
      if ((provides(name) && elsewhere !== undefined) || !isRegistry(spec, isKnown(name))) {
        if (before === undefined) delete list[name];
        else list[name] = before;
      }
    }
    for (const [name, spec] of Object.entries(theirs)) if (provides(name)) list[name] = spec;
    put(field, Object.keys(list).length === 0 && other[field] === undefined ? undefined : list);
  }
  if (isRecord(one["bin"])) {
    const bins = record(other["bin"]);
    const taken = (name: string): boolean =>
      (tools.has(name) || everyonesPrograms.has(name)) && bins[name] === undefined;
    const left = Object.entries(one["bin"]).filter(([name]) => !taken(name));
    put("bin", Object.fromEntries(left));
  } else if (typeof one["bin"] === "string" && base === undefined) {
    const name = packageOf(typeof one["name"] === "string" ? one["name"] : "");
    if (tools.has(plainName(name)) || everyonesPrograms.has(plainName(name))) put("bin", undefined);
  }
  return isSame(one, mixed) ? undefined : `${JSON.stringify(mixed, null, 2)}\n`;
}

/** From a registry, or a package of the repository that the base knows already. */
function isRegistry(spec: unknown, isKnown: boolean): boolean {
  if (typeof spec !== "string") return false;
  if (spec.startsWith("workspace:") || spec.startsWith("catalog:")) return isKnown;
  return /^[\s\w.*^~<>=|+-]*$/.test(spec);
}

function isSame(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const keys = new Set([...Object.keys(one), ...keysOf(other)]);
  return [...keys].every((key) => sorted(one[key]) === sorted(other[key]));
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isRecord(each) ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
