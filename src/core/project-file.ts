// Project files of which only some parts say how a check is run, and the rest is work like any other.

import { z } from "zod";

const PackageFile = z.record(z.string(), z.unknown());
const Scripts = z.record(z.string(), z.unknown());

/** Scripts, and the settings of tools that can be kept in this file. */
const checkParts = [
  "scripts",
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
] as const;

/** The session's file with the base's way to run checks; undefined when both run them the same way. */
export function withBaseParts(path: string, session: string, base: string): string | undefined {
  if (path.endsWith("package.json")) return packageWithBase(session, base);
  // A change of dependencies alone is no change of the checks.
  return toolSections(session) === toolSections(base) ? undefined : base;
}

/** Whether only parts of the file belong to a check. */
export function isProjectFile(path: string): boolean {
  return /(?:^|\/)(?:package\.json|pyproject\.toml)$/.test(path);
}

/** The content of such a file that says nothing. */
export function emptyFile(path: string): string {
  return path.endsWith("package.json") ? "{}" : "";
}

/** When one of the files cannot be read, the whole file of the base is taken. */
function packageWithBase(session: string, base: string): string | undefined {
  const [one, other] = [read(session), read(base)];
  if (one === undefined || other === undefined) return session === base ? undefined : base;
  if (checkParts.every((key) => JSON.stringify(one[key]) === JSON.stringify(other[key]))) return undefined;
  const mixed: Record<string, unknown> = { ...one };
  for (const key of checkParts) {
    if (other[key] === undefined) delete mixed[key];
    else mixed[key] = other[key];
  }
  return `${JSON.stringify(mixed, null, 2)}\n`;
}

export function packageScripts(text: string): Record<string, string> {
  const scripts = Scripts.safeParse(read(text)?.["scripts"]);
  if (!scripts.success) return {};
  return Object.fromEntries(
    Object.entries(scripts.data).flatMap(([name, line]) => (typeof line === "string" ? [[name, line]] : [])),
  );
}

function read(text: string): Record<string, unknown> | undefined {
  try {
    return PackageFile.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The lines of a pyproject.toml that are settings of tools and not of packaging. */
function toolSections(text: string): string {
  let isTool = false;
  return text
    .split("\n")
    .filter((line) => {
      if (line.startsWith("[")) isTool = /^\[+tool\.(?!poetry|uv|hatch|setuptools|pdm|flit)/.test(line);
      return isTool;
    })
    .join("\n");
}
