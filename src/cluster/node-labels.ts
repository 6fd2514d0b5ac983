// What this node has that trees can ask for: the labels that it was given, and the folders of projects.

import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";

import { isOwnLabel } from "../protocol/invocation/node-label.ts";
import type { Row } from "../store/postgres/database-connection.ts";
import { storedText } from "../store/postgres/stored-text.ts";

/** The need of a tree that works in a project: by the name that a person gave to it, or by its folder. */
export const projectNeed = (project: string): string => storedText(`project:${project}`);

/** A node that has one of these has the folder. */
export function folderNeeds(folder: string): string[] {
  const needs: string[] = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) needs.push(projectNeed(at));
  return needs;
}

export interface NamedProject {
  readonly name: string;
  /** Its folder on the machine where the tree was started. */
  readonly folder: string;
}

/** Projects that are asked for by their folder and looked for on this machine, at most. */
const mostFolders = 1_000;
const neededFolders = `SELECT DISTINCT need FROM trees t, unnest(t.needs) AS need
  WHERE t.open AND need LIKE 'project:/%' LIMIT ${mostFolders}`;
const putLabels = `UPDATE nodes SET labels = ARRAY(SELECT l FROM unnest(labels) AS l WHERE l LIKE 'schema:%') || $2::text[]
  WHERE incarnation = $1`;

type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

export class NodeLabels {
  readonly #given: readonly string[];
  readonly #names: ReadonlyMap<string, string>;
  #told = "";

  /** `projects`: the names of projects by their folder here, without links in its path; no two have the same name. */
  constructor(given: readonly string[], projects: ReadonlyMap<string, string> = new Map()) {
    this.#given = given.filter((label) => !isOwnLabel(label));
    this.#names = projects;
  }

  /** The project that a person named and that has the folder in it. */
  namedAt(folder: string): NamedProject | undefined {
    if (this.#names.size === 0) return undefined;
    for (let at = folder; ; at = dirname(at)) {
      const name = this.#names.get(withoutLinks(at));
      if (name !== undefined) return { name, folder: at };
      if (at === dirname(at)) return undefined;
    }
  }

  /** Where the project of this name is on this machine. */
  folderOf(name: string): string | undefined {
    return [...this.#names].find(([, each]) => each === name)?.[0];
  }

  async has(needs: readonly string[]): Promise<boolean> {
    const labels = await this.#labels(needs);
    return needs.every((need) => labels.includes(need));
  }

  /** Tells the others what this node has, if that has changed: a folder may come and go. */
  async tell(query: Query, incarnation: number): Promise<void> {
    const needed = (await query(neededFolders)).map(({ need }) => String(need));
    const labels = await this.#labels(needed);
    const told = JSON.stringify(labels);
    if (told === this.#told) return;
    await query(putLabels, [incarnation, labels]);
    this.#told = told;
  }

  async #labels(needs: readonly string[]): Promise<string[]> {
    const folders = needs.flatMap((need) => (need.startsWith("project:/") ? [need.slice("project:".length)] : []));
    const found = await Promise.all([...new Set([...this.#names.keys(), ...folders])].map(folderIfThere));
    const projects = found.flat().flatMap((folder) => [folder, this.#names.get(folder) ?? folder]);
    return [...new Set([...this.#given, ...projects.map(projectNeed)])].sort();
  }
}

async function folderIfThere(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => undefined);
  return isAbsolute(folder) && found?.isDirectory() === true ? [folder] : [];
}

function withoutLinks(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
