// Whether a file is code, a document or data, by its ending or its first line.

import { extensionOf, nameOf } from "./tree-paths.ts";

const scripts = /^(?:[cm]?jsx?|[cm]?tsx?|vue|svelte|astro|coffee)$/;
const other =
  /^(?:rb|php|go|rs|c|cc|cpp|cxx|h|hh|hpp|java|kts?|scala|swift|cs|fs|lua|p[lm]|exs?|dart|ps1|r|jl|hs|mli?|clj[cs]?|erl|elm|zig|nim|html?)$/;
const documents = /^(?:md|mdx|markdown|rst|adoc|asciidoc|org|tex)$/;

export type FileKind = "script" | "python" | "shell" | "code" | "document" | "data";

export function fileKind(path: string, text?: string): FileKind {
  const extension = extensionOf(path);
  if (scripts.test(extension)) return "script";
  if (/^pyw?$/.test(extension)) return "python";
  if (/^(?:sh|bash|zsh|ksh|bats)$/.test(extension)) return "shell";
  if (other.test(extension)) return "code";
  if (documents.test(extension)) return "document";
  if (/^(?:rakefile|gemfile|podfile|guardfile)$/i.test(nameOf(path))) return "code";
  const [, program] = /^#!\s*\S*?(?:env\s+(?:-S\s+)?)?([a-z]+)[\d.]*(?:\s|$)/.exec(firstLine(text)) ?? [];
  if (program === undefined) return "data";
  if (/^(?:node|deno|bun|tsx)$/.test(program)) return "script";
  if (/^(?:python|pypy)$/.test(program)) return "python";
  return program.endsWith("sh") ? "shell" : "code";
}

/** The last word of the path counts in `#!/usr/bin/python3`. */
function firstLine(text = ""): string {
  const line = text.slice(0, 200).split("\n", 1)[0] ?? "";
  return line.startsWith("#!") ? line.replace(/^#!\s*(?:\S*\/)?/, "#!") : "";
}

export function isCode(kind: FileKind): boolean {
  return kind !== "document" && kind !== "data";
}
