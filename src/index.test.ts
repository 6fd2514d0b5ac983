import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

const entries = ["index.ts", "client/index.ts", "protocol/index.ts"].map((file) => join(import.meta.dirname, file));
const named = /export (?:type )?\{([^}]*)\} from "([^"]+)"/g;

function exportsOf(file: string): { readonly names: readonly string[]; readonly source: string }[] {
  return [...readFileSync(file, "utf8").matchAll(named)].map(([, list = "", path = ""]) => ({
    names: list.split(",").flatMap((name) => name.trim() || []),
    source: readFileSync(join(dirname(file), path), "utf8"),
  }));
}

test("every public name is written out in its entry point", () => {
  for (const entry of entries) {
    const text = readFileSync(entry, "utf8");
    assert.doesNotMatch(text, /export \*/, entry);
    const others = text
      .replaceAll(named, "")
      .replaceAll(/^\/\/.*$/gm, "")
      .replaceAll(";", "")
      .trim();
    assert.equal(others, "", entry);
    assert.ok(exportsOf(entry).length > 0, entry);
  }
});

test("a public schema comes with the type of its values, under the same name", () => {
  for (const { names, source } of entries.flatMap(exportsOf)) {
    for (const name of names.filter((each) => /^[A-Z]/.test(each) && source.includes(`export const ${each} = `))) {
      assert.ok(source.includes(`export type ${name} = `), name);
    }
  }
});
