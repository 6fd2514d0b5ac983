// Reads a makefile as far as a check needs it: its rules with their recipes, and the files that it includes.

import type { BaseTree } from "./base-tree.ts";
import { globMatcher, joined } from "./tree-paths.ts";

interface MakeRule {
  readonly targets: readonly string[];
  readonly needs: readonly string[];
  readonly recipe: readonly string[];
}

export interface Makefile {
  readonly rules: readonly MakeRule[];
  readonly variables: ReadonlyMap<string, string>;
  readonly includes: readonly string[];
}

export function readMakefile(text: string): Makefile {
  const rules: { targets: string[]; needs: string[]; recipe: string[] }[] = [];
  const variables = new Map<string, string>();
  const includes: string[] = [];
  let prefix = "\t";
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const last = rules.at(-1);
    if (line.startsWith(prefix) && last !== undefined) {
      last.recipe.push(line.slice(prefix.length).replace(/^[@+\-\s]+/, ""));
      continue;
    }
    const bare = line.replace(/(?<!\\)#.*$/, "").trim();
    const [, include] = /^(?:-|s)?include\s+(.*)$/.exec(bare) ?? [];
    if (include !== undefined) {
      includes.push(...include.split(/\s+/));
      continue;
    }
    const [, name, value] = /^(?:override\s+|export\s+)?([\w.]+)\s*(?::{0,3}|\?|\+|!)=\s*(.*)$/.exec(bare) ?? [];
    if (name !== undefined) {
      if (name === ".RECIPEPREFIX" && value !== undefined && value !== "") prefix = value.slice(0, 1);
      variables.set(name, line.includes("+=") ? `${variables.get(name) ?? ""} ${value ?? ""}` : (value ?? ""));
      continue;
    }
    const [, targets, rest] = /^([^:=]+?)\s*&?::?(?!=)\s*(.*)$/.exec(bare) ?? [];
    if (targets === undefined) continue;
    const [needs = "", ...recipe] = (rest ?? "").split(";");
    rules.push({
      targets: targets.split(/\s+/),
      needs: needs.replaceAll("|", " ").split(/\s+/).filter(Boolean),
      recipe: recipe.length === 0 ? [] : [recipe.join(";").trim()],
    });
  }
  return { rules, variables, includes };
}

const mostSteps = 500;

/** The lines that making the targets may run, with variables filled in; every line when a target cannot be found. */
export function recipesOf(makefile: Makefile, wanted: readonly string[]): string[] {
  const { rules } = makefile;
  const named = rules.map(({ targets, needs, recipe }) => ({
    targets: targets.flatMap((each) => filled(each, makefile).split(/\s+/)),
    needs: needs.flatMap((each) => filled(each, makefile).split(/\s+/)),
    recipe,
  }));
  const first = named.find(({ targets }) => targets[0]?.startsWith(".") === false)?.targets[0];
  const open = wanted.length > 0 ? [...wanted] : first === undefined ? [] : [first];
  const isKnown = open.every((name) =>
    named.some(({ targets }) => targets.some((target) => stemFor(target, name) !== undefined)),
  );
  if (!isKnown || open.length === 0) {
    return named.flatMap(({ recipe, targets, needs }) =>
      recipe.map((line) => filled(line, makefile, { target: targets[0], needs })),
    );
  }
  const lines: string[] = [];
  const done = new Set<string>();
  for (const name of open) {
    if (done.has(name) || done.size > mostSteps) continue;
    done.add(name);
    for (const { targets, needs, recipe } of named) {
      const stem = targets.map((target) => stemFor(target, name)).find((each) => each !== undefined);
      if (stem === undefined) continue;
      const own = needs.map((need) => need.replace("%", stem)).filter(Boolean);
      open.push(...own);
      lines.push(...recipe.map((line) => filled(line, makefile, { target: name, needs: own, stem })));
    }
  }
  return lines;
}

/** What `%` stands for when the target makes the name; empty when it is the name itself. */
function stemFor(target: string, name: string): string | undefined {
  if (target === name) return "";
  const at = target.indexOf("%");
  if (at === -1) return undefined;
  const [before, after] = [target.slice(0, at), target.slice(at + 1)];
  const fits = name.length > before.length + after.length && name.startsWith(before) && name.endsWith(after);
  return fits ? name.slice(before.length, name.length - after.length) : undefined;
}

interface Automatic {
  readonly target?: string | undefined;
  readonly needs?: readonly string[];
  readonly stem?: string;
}

/** Functions keep their words, so that paths in them are seen. */
function filled(line: string, { variables }: Makefile, { target = "", needs = [], stem = "" }: Automatic = {}): string {
  let text = line
    .replaceAll(/\$\(?@\)?/g, target)
    .replaceAll(/\$\(?<\)?/g, needs[0] ?? "")
    .replaceAll(/\$\(?[\^+?]\)?/g, needs.join(" "))
    .replaceAll(/\$\(?\*\)?/g, stem)
    .replaceAll("$$", "\0");
  for (let depth = 0; depth < 8 && /\$[({]/.test(text) && text.length < 50_000; depth += 1) {
    text = text
      .replaceAll(/\$[({]([\w.]+)[)}]/g, (_, name: string) => variables.get(name) ?? (name === "MAKE" ? "make" : ""))
      .replaceAll(/\$\((?:shell|wildcard|addprefix|addsuffix|patsubst|sort|notdir|dir|strip)\s([^()$]*)\)/g, "$1");
  }
  return text.replaceAll("\0", "$");
}

/** What make takes for made once a file has its name: no target that is declared as none, and none that is there already. */
export function madeBy(tree: BaseTree, rules: readonly MakeRule[], folder: string): ((path: string) => boolean)[] {
  const phony = new Set(rules.flatMap(({ targets, needs }) => (targets.includes(".PHONY") ? needs : [])));
  return rules
    .flatMap(({ targets }) => targets)
    .flatMap((target) => {
      const path = joined(folder, target);
      if (path === undefined || phony.has(target) || tree.has(path) || tree.isFolder(path)) return [];
      return /[$()]|^[.%]+$|^\./.test(target) ? [] : (globMatcher(folder, target.replaceAll("%", "*")) ?? []);
    });
}
