// What this node has that trees can ask for: the labels that it was given, the folders of projects, and runners.

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

/** The runners of this machine: a kind, or a kind and what it needs, such as `acp:claude`. */
export interface NodeRunners {
  /** Those that not every machine has and that a tree has here whatever its project is. */
  readonly all: () => Promise<readonly string[]>;
  /** Whether every tree has the runner of this kind here; told of only when a tree needs it, since mostly all nodes have it. */
  readonly isBuiltIn: (kind: string) => boolean;
  /** Whether a tree that works in the project with this folder here has the runner. */
  readonly has: (runner: string, folder: string) => Promise<boolean>;
  /** Whether its name means the same in every project. */
  readonly isCommon: (runner: string) => boolean;
}

const noRunners: NodeRunners = {
  all: async () => [],
  isBuiltIn: () => false,
  has: async () => false,
  isCommon: () => true,
};

/** What is asked for and looked for on this machine, at most. */
const mostLookedFor = 1_000;
const neededHere = `SELECT DISTINCT need FROM trees t, unnest(t.needs) AS need
  WHERE t.open AND (need LIKE 'project:/%' OR need LIKE 'runner:%') LIMIT ${mostLookedFor}`;
/** The need of a runner that only some projects have. Neither part has a blank, unless the last is a path. */
const runnerOfProject = /^runner:(\S+) of (.+)$/s;
const putLabels = `UPDATE nodes SET labels = ARRAY(SELECT l FROM unnest(labels) AS l WHERE l LIKE 'schema:%') || $2::text[]
  WHERE incarnation = $1`;

/** A tree whose owner lacks something of it may go to this node now. What nobody has, this node takes itself. */
const tellOwners = `SELECT tell_of_free() FROM nodes n WHERE n.incarnation = $1 AND EXISTS (
  SELECT 1 FROM trees t JOIN nodes o ON o.incarnation = t.owner AND o.alive AND o.incarnation <> n.incarnation
    WHERE t.open AND t.needs <@ n.labels AND NOT t.needs <@ o.labels)`;

type Query = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

export class NodeLabels {
  readonly #given: readonly string[];
  readonly #names: ReadonlyMap<string, string>;
  readonly #runners: NodeRunners;
  /** Runners of projects that were asked for, and whether they are here. Looking may take long, since it loads the project's config. */
  readonly #looked = new Map<string, boolean>();
  #isLooking = false;
  #onFound: () => void = () => undefined;
  #told = "";

  /** `projects`: the names of projects by their folder here, without links in its path; no two have the same name. */
  constructor(
    given: readonly string[],
    {
      projects = new Map(),
      runners = noRunners,
    }: { readonly projects?: ReadonlyMap<string, string> | undefined; readonly runners?: NodeRunners | undefined } = {},
  ) {
    this.#given = given.filter((label) => !isOwnLabel(label));
    this.#names = projects;
    this.#runners = runners;
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

  /** `project`: its name or its folder; undefined for a tree that has none. */
  runnerNeed(runner: string, project: string | undefined): string {
    const isCommon = project === undefined || this.#runners.isCommon(runner);
    return storedText(isCommon ? `runner:${runner}` : `runner:${runner} of ${project}`);
  }

  /** Called when it was found out that a project has a runner here, or has it no more. */
  onFound(listener: () => void): void {
    this.#onFound = listener;
  }

  async has(needs: readonly string[]): Promise<boolean> {
    const ofProjects = await Promise.all(needs.map((need) => this.#hasRunnerOfProject(need)));
    const labels = await this.#labels(needs);
    return needs.every((need, at) => ofProjects[at] ?? labels.includes(need));
  }

  /** Tells the others what this node has, if that has changed: a folder may come and go. */
  async tell(query: Query, incarnation: number): Promise<void> {
    const needed = (await query(neededHere)).map(({ need }) => String(need));
    void this.#lookFor(needed);
    const found = needed.filter((need) => this.#looked.get(need) === true);
    const labels = [...(await this.#labels(needed)), ...found].sort();
    const told = JSON.stringify(labels);
    if (told === this.#told) return;
    await query(putLabels, [incarnation, labels]);
    await query(tellOwners, [incarnation]);
    this.#told = told;
  }

  /** Never rejects: what cannot be found out is not here. */
  async #lookFor(needs: readonly string[]): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    let changed = false;
    for (const need of needs) {
      const found = await this.#hasRunnerOfProject(need).catch(() => false);
      if (found === undefined) continue;
      changed ||= found !== (this.#looked.get(need) ?? false);
      this.#looked.set(need, found);
    }
    for (const need of this.#looked.keys()) if (!needs.includes(need)) this.#looked.delete(need);
    this.#isLooking = false;
    if (changed) this.#onFound();
  }

  async #labels(needs: readonly string[]): Promise<string[]> {
    const folders = needs.flatMap((need) => (need.startsWith("project:/") ? [need.slice("project:".length)] : []));
    const found = await Promise.all([...new Set([...this.#names.keys(), ...folders])].map(folderIfThere));
    const projects = found.flat().flatMap((folder) => [folder, this.#names.get(folder) ?? folder]);
    const runners = (await this.#runners.all()).map((runner) => this.runnerNeed(runner, undefined));
    runners.push(...needs.filter((need) => this.#isBuiltIn(need)));
    return [...new Set([...this.#given, ...projects.map(projectNeed), ...runners])].sort();
  }

  #isBuiltIn(need: string): boolean {
    return need.startsWith("runner:") && this.#runners.isBuiltIn(need.slice("runner:".length));
  }

  /** Undefined for a need of another kind. */
  async #hasRunnerOfProject(need: string): Promise<boolean | undefined> {
    const [, runner, project] = runnerOfProject.exec(need) ?? [];
    if (runner === undefined || project === undefined) return undefined;
    const folder = isAbsolute(project) ? project : this.folderOf(project);
    if (folder === undefined || (await folderIfThere(folder)).length === 0) return false;
    if (this.#runners.isBuiltIn(runner) || (await this.#runners.all()).includes(runner)) return true;
    return this.#runners.has(runner, folder);
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
