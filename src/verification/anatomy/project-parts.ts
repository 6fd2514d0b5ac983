// Compares the parts of project files and lock files that say how checks run; where they differ, the base's file counts.

import { nameOf } from "./tree-paths.ts";
import { tomlEntries, tomlStrings } from "./toml-entries.ts";

/** Whether only parts of such a file belong to a check. package.json is apart. */
export function isProjectFile(path: string): boolean {
  return (
    /^(?:pyproject\.toml|setup\.cfg|Cargo\.toml|go\.mod)$/.test(nameOf(path)) ||
    isRequirements(path) ||
    isLockFile(path)
  );
}

function isLockFile(path: string): boolean {
  return /^(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lock|uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|Cargo\.lock|Gemfile\.lock|go\.sum)$/.test(
    nameOf(path),
  );
}

function isRequirements(path: string): boolean {
  return /^(?:requirements|constraints).*\.(?:txt|in)$/.test(nameOf(path));
}

/** Undefined when both run checks the same way, else the base's text; empty when the base has no such file. */
export function projectWithBase(
  path: string,
  session: string,
  base: string | undefined,
  tools: ReadonlySet<string>,
): string | undefined {
  const before = base ?? "";
  if (session === before) return undefined;
  const [one, other] = [checkParts(path, session, tools), checkParts(path, before, tools)];
  return one !== undefined && other !== undefined && one === other ? undefined : before;
}

function checkParts(path: string, text: string, tools: ReadonlySet<string>): string | undefined {
  if (isLockFile(path)) return lockParts(text, tools);
  if (isRequirements(path)) return requirementParts(text, tools);
  switch (nameOf(path)) {
    case "pyproject.toml":
      return tomlParts(text, (key, value) => isPythonPart(key, value, tools));
    case "Cargo.toml":
      return tomlParts(text, isCargoPart);
    case "setup.cfg":
      return iniParts(text);
    default:
      return goParts(text);
  }
}

function tomlParts(
  text: string,
  isPart: (key: readonly string[], value: string) => boolean | readonly string[],
): string | undefined {
  const entries = tomlEntries(text);
  if (entries === undefined) return undefined;
  return entries
    .flatMap(({ key, value }) => {
      const part = isPart(key, value);
      if (value === "" || part === false) return [];
      return [JSON.stringify([key, part === true ? value : part])];
    })
    .toSorted()
    .join("\n");
}

const packagers = /^(?:poetry|uv|hatch|setuptools|pdm|flit|rye|maturin|scikit-build)$/;
const elsewhere = /\b(?:path|git|url|file|editable|workspace)=|(?:git\+|file:|https?:)|\s@\s/;

/** A list of requirements counts as far as it names the check's own programs or places other than the registry. */
function isPythonPart(key: readonly string[], value: string, tools: ReadonlySet<string>): boolean | readonly string[] {
  const [first = "", second = "", ...rest] = key;
  if (first === "tool" && !packagers.test(second)) return !value.startsWith("{}");
  if (first === "tool") {
    if (
      rest.some((part) =>
        /^(?:scripts|envs|tasks|sources?|workspace|plugins|override|index|pytest|cmdclass|entry-points?)/.test(part),
      )
    ) {
      // Scripts of poetry are what the project offers, unless a program of the check has that name.
      return second === "poetry" && rest[0] === "scripts" ? tools.has(rest[1] ?? "") : true;
    }
    return elsewhere.test(value) || tools.has(rest.at(-1) ?? "");
  }
  if (first === "build-system") return true;
  if (first === "project" && (second === "scripts" || second === "gui-scripts"))
    return tools.has(rest[0] ?? "") || /^(?:python|sh|node)/.test(rest[0] ?? "");
  if (first === "project" && second === "entry-points") return true;
  if (value.startsWith("[")) {
    const kept = tomlStrings(value).filter(
      (each) => elsewhere.test(each) || tools.has(/^[\w.-]+/.exec(each)?.[0] ?? ""),
    );
    return kept.length === 0 ? false : kept;
  }
  return false;
}

function isCargoPart(key: readonly string[], value: string): boolean {
  const [first = "", ...rest] = key;
  if (/^(?:test|profile|patch|replace|bench|lints|cargo-features|badges)$/.test(first)) return true;
  if (first === "lib" || first === "bin" || first === "example")
    return /^(?:test|doctest|harness|bench|required-features)$/.test(rest.at(-1) ?? "");
  if (first === "package") return /^(?:build|autotests|autobenches|links|metadata|default-run)$/.test(rest[0] ?? "");
  if (key.some((part) => part.endsWith("dependencies")))
    return elsewhere.test(`${rest.at(-1) ?? ""}=${value}`) || elsewhere.test(value) || first === "build-dependencies";
  return false;
}

/** Options, places other than the registry, and the check's own programs. */
function requirementParts(text: string, tools: ReadonlySet<string>): string {
  return text
    .replaceAll(/\\\r?\n/g, " ")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s)#.*$/, "").trim())
    .filter((line) => /^[-./]|@|:|\\/.test(line) || tools.has(/^[\w.-]+/.exec(line)?.[0] ?? ""))
    .join("\n");
}

function iniParts(text: string): string {
  let section = "";
  return text
    .split("\n")
    .flatMap((line) => {
      const [, name] = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line) ?? [];
      if (name !== undefined) section = name;
      const isPackaging = /^(?:metadata|options(?:\.(?!entry_points).*)?|egg_info|bdist_wheel|sdist)$/.test(section);
      return isPackaging || /^\s*(?:[#;].*)?$/.test(line) || name !== undefined
        ? []
        : [JSON.stringify([section, line.trim()])];
    })
    .join("\n");
}

function goParts(text: string): string {
  let block = "";
  return text
    .split("\n")
    .map((line) => line.replace(/\/\/.*$/, "").trim())
    .flatMap((line) => {
      const [, opened] = /^(\w+)\s*\($/.exec(line) ?? [];
      if (opened !== undefined) block = opened;
      const directive = block === "" ? (/^\w+/.exec(line)?.[0] ?? "") : block;
      if (line === ")") block = "";
      return /^(?:replace|exclude|toolchain|godebug|tool|retract|ignore)$/.test(directive) && opened === undefined
        ? [`${directive} ${line}`]
        : [];
    })
    .join("\n");
}

/** The blocks of the tools, and whatever comes from somewhere else than a registry. */
function lockParts(text: string, tools: ReadonlySet<string>): string {
  const names = [...tools].filter((tool) => /^[\w@./-]{2,}$/.test(tool));
  const lines = text.split("\n");
  const kept: string[] = [];
  let inside: number | undefined;
  for (const line of lines) {
    if (line.trim() === "") {
      inside = undefined;
      continue;
    }
    const indent = line.length - line.trimStart().length;
    if (inside !== undefined && indent > inside) kept.push(line.trim().replace(/,$/, ""));
    else {
      inside = undefined;
      const [, name] =
        /^\s*(?:name = )?["']?(?:\/|node_modules\/)?((?:@[\w.-]+\/)?[\w.-]+?)(?:@.*)?["']?(?:\s*[:=({,].*|)$/.exec(
          line,
        ) ?? [];
      if (name !== undefined && names.includes(name.slice(name.lastIndexOf("/") + 1)) && !line.includes('": "')) {
        // In TOML the block goes on without being indented, up to an empty line.
        inside = line.trimStart().startsWith("name = ") ? -1 : indent;
        kept.push(line.trim().replace(/,$/, ""));
      }
    }
    if (
      /"link": true|"resolved": "(?!https:\/\/registry\.)|\b(?:link|file|portal|git\+\w+|workspace):(?!\*)|resolution: \{(?!integrity)/.test(
        line,
      )
    )
      kept.push(line.trim().replace(/,$/, ""));
  }
  return kept.join("\n");
}
