// Holds the list "The way of one invocation" in ARCHITECTURE.md to the code: every file exists and leads to the next one.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, test } from "node:test";

const project = join(import.meta.dirname, "..");
const heading = "## The way of one invocation";
const page = readFileSync(join(project, "ARCHITECTURE.md"), "utf8");

interface Item {
  readonly number: number;
  readonly file: string;
  readonly port: { readonly name: string; readonly file: string } | undefined;
}

/** The text between the heading and the next one. */
function sectionOf(text: string): string {
  const from = text.indexOf(`${heading}\n`);
  assert.notEqual(from, -1, `ARCHITECTURE.md has no section "${heading}"; the test reads its list from there`);
  const rest = text.slice(from + heading.length);
  const end = rest.indexOf("\n## ");
  return end === -1 ? rest : rest.slice(0, end);
}

function itemsOf(section: string): Item[] {
  // A long item may be wrapped: its later lines are indented.
  const lines = section.replaceAll(/\n {2,}/g, " ").split("\n");
  return lines
    .filter((line) => /^\d+\. /.test(line))
    .map((line) => {
      const { number = "", file } = /^(?<number>\d+)\. `(?<file>[^`]+)`/.exec(line)?.groups ?? {};
      assert.ok(file !== undefined, `an item must begin with a path in backticks; mend this one: ${line}`);
      const { name, path } = /→ port `(?<name>\w+)` \(`(?<path>[^`]+)`\)$/.exec(line)?.groups ?? {};
      assert.ok(
        (name !== undefined && path !== undefined) || !line.includes("→"),
        'an item must end with "→ port `Name` (`path`)" or have no arrow at all; mend this one: ' + line,
      );
      return {
        number: Number(number),
        file,
        port: name === undefined || path === undefined ? undefined : { name, file: path },
      };
    });
}

/** Imported files, as paths from the root of the project, each with the names that are imported from it. */
type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const known = new Map<string, Imports>();

function importsOf(file: string): Imports {
  const found = known.get(file);
  if (found !== undefined) return found;
  const text = readFileSync(join(project, file), "utf8");
  const imports = new Map<string, Set<string>>();
  const add = (specifier: string, names: readonly string[]): void => {
    if (!specifier.startsWith(".")) return;
    const path = relative(project, join(project, dirname(file), specifier));
    const all = imports.get(path) ?? new Set();
    for (const name of names) all.add(name);
    imports.set(path, all);
  };
  for (const [, clause = "", specifier = ""] of text.matchAll(/^(?:import|export)\s([^;"]*?)\sfrom\s"([^"]+)"/gm)) {
    add(specifier, clause.match(/\w+/g) ?? []);
  }
  // `own` is how the launcher chooses between the source and the bundle.
  for (const [, specifier = ""] of text.matchAll(/\bimport\((?:own\()?"([^"]+)"/g)) add(specifier, []);
  known.set(file, imports);
  return imports;
}

function takes(file: string, name: string, from: string): boolean {
  return importsOf(file).get(from)?.has(name) === true;
}

/** The file itself knows the port by name, or a file that imports it does and puts the two together. */
function implementsPort(file: string, port: NonNullable<Item["port"]>): boolean {
  if (takes(file, port.name, port.file)) return true;
  const sources = globSync("src/**/*.ts", { cwd: project }).filter((each) => !each.endsWith(".test.ts"));
  return sources.some((each) => importsOf(each).has(file) && takes(each, port.name, port.file));
}

/** What is wrong between an item and the next one; undefined when the one leads to the other. */
function problemBetween(item: Item, next: Item, before: ReadonlySet<string>): string | undefined {
  const where = `items ${item.number} and ${next.number} of "${heading.slice(3)}" in ARCHITECTURE.md`;
  const { file, port } = item;
  if (port === undefined) {
    if (importsOf(file).has(next.file) || before.has(next.file)) return undefined;
    return `${where}: ${file} does not import ${next.file}. Name the file that is called next, or, if a port lies between the two, end item ${item.number} with → port \`Name\` (\`path\`).`;
  }
  if (!new RegExp(`^export (?:interface|type|const|class) ${port.name}\\b`, "m").test(textOf(port.file))) {
    return `${where}: ${port.file} exports no ${port.name}. Name the port as it is called now, and the file that declares it.`;
  }
  if (!importsOf(file).has(port.file)) {
    return `${where}: ${file} does not import ${port.file}, so it does not call through the port ${port.name}. Name the file that does, or the port it uses.`;
  }
  if (implementsPort(next.file, port)) return undefined;
  return `${where}: neither ${next.file} nor a file that imports it takes ${port.name} from ${port.file}. Name the file that implements the port.`;
}

function textOf(file: string): string {
  return existsSync(join(project, file)) ? readFileSync(join(project, file), "utf8") : "";
}

describe("the way of one invocation in ARCHITECTURE.md", () => {
  const section = sectionOf(page);
  const items = itemsOf(section);

  test("is a list that is numbered from 1 without a gap, from the launcher to the terminal", () => {
    assert.deepEqual(
      items.map(({ number }) => number),
      items.map((_, index) => index + 1),
      "number the items 1, 2, 3 … again",
    );
    assert.equal(items[0]?.file, "bin/tutti.js");
    assert.match(items.at(-1)?.file ?? "", /^src\/cli\/terminal\//);
  });

  test("names only files that exist", () => {
    const named = [...section.matchAll(/`((?:bin|src|test)\/[^`]+\.(?:ts|js))`/g)].map(([, file = ""]) => file);
    const missing = [...new Set(named)].filter((file) => !existsSync(join(project, file)));
    assert.deepEqual(missing, [], `these files have moved or are gone; name them in "${heading.slice(3)}" as they are`);
  });

  test("leads from each file to the next, by an import or through the port it names", () => {
    const before = new Set<string>();
    const problems = items.slice(0, -1).flatMap((item, index) => {
      before.add(item.file);
      const next = items[index + 1];
      const readable = next !== undefined && [item.file, next.file].every((file) => existsSync(join(project, file)));
      const problem = readable ? problemBetween(item, next, before) : undefined;
      return problem === undefined ? [] : [problem];
    });
    assert.deepEqual(problems, []);
  });
});
