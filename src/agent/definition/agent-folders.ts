// Loads the agents of a project and of its user from their folders. Of several agents with one name the first is used.

import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import { errno } from "../../core/errno.ts";
import { strangerProblem } from "../../files/owned-path.ts";
import { thrownMessage } from "../../protocol/error.ts";
import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { type DefinitionIssue, readDefinition } from "./definition.ts";

export interface DefinitionFolder {
  readonly path: string;
  readonly of: "project" | "user";
}

interface LoadedAgent {
  readonly name: string;
  readonly file: string;
  readonly of: DefinitionFolder["of"];
  readonly definition: AgentDefinition;
}

interface DefinitionProblem extends DefinitionIssue {
  readonly file: string;
}

export interface LoadedDefinitions {
  /** By name, in the order of the names. */
  readonly agents: readonly LoadedAgent[];
  readonly problems: readonly DefinitionProblem[];
}

/** People sort agents into subfolders; folders below this depth are not searched. */
const maxDepth = 4;
const maxBytes = 4 * 1024 * 1024;

/** In order of precedence. */
export function definitionFolders(parents: { readonly project: string; readonly home: string }): DefinitionFolder[] {
  const folders = (["project", "home"] as const).flatMap((parent) =>
    [".tutti", ".claude"].map((tool): DefinitionFolder => ({
      path: join(parents[parent], tool, "agents"),
      of: parent === "home" ? "user" : "project",
    })),
  );
  return folders.filter(({ path }, at) => folders.findIndex((folder) => folder.path === path) === at);
}

/** A file that cannot be read now keeps its definition from `before`. Never throws: whatever goes wrong becomes a problem. */
export async function loadDefinitions(
  folders: readonly DefinitionFolder[],
  before?: LoadedDefinitions,
): Promise<LoadedDefinitions> {
  const agents = new Map<string, LoadedAgent>();
  const problems: DefinitionProblem[] = [];
  const mentions: { file: string; agent: string; line: number }[] = [];
  for (const folder of folders) {
    if (isForeign(folder.path, problems)) continue;
    for (const file of await markdownIn(folder.path, problems)) {
      const read = await readFileAt(file, folder.of);
      const kept = read.broken ? before?.agents.find((agent) => agent.file === file) : undefined;
      problems.push(...read.problems);
      mentions.push(...read.mentions.map((mention) => ({ file, ...mention })));
      if (kept !== undefined) {
        const message = `the earlier definition of ${kept.name} stays in use`;
        problems.push({ file, line: 1, level: "warning", message });
      }
      const agent = read.agent ?? kept;
      if (agent === undefined) continue;
      const first = agents.get(agent.name);
      if (first === undefined) agents.set(agent.name, agent);
      else {
        const message = `there is an agent ${agent.name} already, in ${first.file}; this one is not used`;
        problems.push({ file, line: 1, level: "warning", message });
      }
    }
  }
  for (const { file, agent, line } of mentions) {
    if (agents.has(agent) || agent === "*") continue;
    problems.push({ file, line, level: "error", message: `there is no agent ${agent}` });
  }
  return { agents: [...agents.values()].toSorted((a, b) => compare(a.name, b.name)), problems };
}

/**
 * Whether another user could put an agent there or exchange one: an agent brings instructions and rights. Whoever can
 * change one of the folders above could replace the folder itself.
 */
function isForeign(folder: string, problems: DefinitionProblem[]): boolean {
  if (!existsSync(folder)) return false;
  for (const path of [dirname(dirname(folder)), dirname(folder), folder]) {
    const message = strangerProblem(path);
    if (message === undefined) continue;
    problems.push({ file: folder, line: 1, level: "error", message: `its agents are not used: ${message}` });
    return true;
  }
  return false;
}

async function markdownIn(folder: string, problems: DefinitionProblem[], depth = 1): Promise<string[]> {
  let entries;
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch (thrown) {
    // Most people have no such folder.
    if (errno(thrown) !== "ENOENT")
      problems.push({ file: folder, line: 1, level: "error", message: `cannot be read: ${thrownMessage(thrown)}` });
    return [];
  }
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => compare(a.name, b.name))) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    const foreign = entry.isDirectory() ? strangerProblem(path) : undefined;
    if (foreign !== undefined) problems.push({ file: path, line: 1, level: "error", message: foreign });
    else if (entry.isDirectory() && depth < maxDepth) files.push(...(await markdownIn(path, problems, depth + 1)));
    else if (/\.md$/i.test(entry.name) && (entry.isFile() || entry.isSymbolicLink())) files.push(path);
  }
  return files;
}

interface FileReading {
  readonly mentions: readonly { readonly agent: string; readonly line: number }[];
  readonly agent?: LoadedAgent;
  readonly broken: boolean;
  readonly problems: readonly DefinitionProblem[];
}

async function readFileAt(file: string, of: DefinitionFolder["of"]): Promise<FileReading> {
  const broken = (message: string): FileReading => ({
    broken: true,
    mentions: [],
    problems: [{ file, line: 1, level: "error", message }],
  });
  let bytes;
  try {
    const found = await stat(file);
    if (!found.isFile()) return { broken: false, mentions: [], problems: [] };
    const foreign = strangerProblem(await realpath(file)) ?? strangerProblem(dirname(await realpath(file)));
    if (foreign !== undefined) return broken(`is not used: ${foreign}`);
    if (found.size > maxBytes) return broken(`is larger than ${maxBytes} bytes`);
    bytes = await readFile(file);
  } catch (thrown) {
    return broken(`cannot be read: ${thrownMessage(thrown)}`);
  }
  if (!isUtf8(bytes)) return broken("is not UTF-8 text");
  const reading = readDefinition(bytes.toString("utf8"), { stem: basename(file).slice(0, -".md".length) });
  const problems = reading.issues.map((issue) => ({ file, ...issue }));
  if (reading.kind !== "agent") return { broken: reading.kind === "broken", mentions: [], problems };
  const { name, definition, mentions } = reading;
  // What a project's file says about its runner needs a person's agreement, wherever the definition goes from here.
  const marked: AgentDefinition =
    of === "project" && definition.runner !== undefined ? { ...definition, from_project: true } : definition;
  return { agent: { name, file, of, definition: marked }, broken: false, mentions, problems };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
