import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { protectedNames } from "./protected-names.ts";
import { isProtectedPath, protectedReason } from "./protected-path.ts";

test("every name of the table is protected in every folder, in any case, with all that is in it, and its reason is told", () => {
  for (const { names, why } of protectedNames) {
    for (const name of names) {
      const path = name.replace("*", "x");
      for (const each of [path, `deep/er/${path}`, path.toUpperCase(), `${path}/in/it`]) {
        assert.ok(isProtectedPath(each), each);
        assert.equal(protectedReason(`/work/${each}`), why, each);
      }
    }
  }
});

test("a name that only contains one of the table, or stands in another folder, is not protected", () => {
  const free = [
    "mise",
    "mise.toml.md",
    "x.gitignore",
    "config/mise",
    ".vscode/launch.json",
    "lefthook",
    ".github/x.yml",
  ];
  for (const path of [...free, "tutti.config", "a.envrc", "crush.json5", ".aider.chat.history.md", ".config/x"]) {
    assert.equal(isProtectedPath(path), false, path);
  }
});

test("a link counts also when it has the name of a folder that holds protected files", () => {
  for (const path of [".vscode", "deep/.config", "mise"]) {
    assert.equal(isProtectedPath(path), false, path);
    assert.equal(isProtectedPath(path, true), true, path);
  }
});

test("the page about tools lists the names with their reasons", () => {
  const page = readFileSync(new URL("../../docs/tools.md", import.meta.url), "utf8").replaceAll(/ +/g, " ");
  for (const { names, why } of protectedNames) {
    const listed = names.map((name) => `\`${name}\``).join(", ");
    assert.ok(page.includes(`| ${listed} | ${why.slice(0, 1).toUpperCase()}${why.slice(1)}. |`), listed);
  }
});
