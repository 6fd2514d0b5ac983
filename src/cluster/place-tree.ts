// Starts a tree with what it needs: here when this node has all of it, otherwise for whichever node has.

import { isAbsolute } from "node:path";

import { z } from "zod";

import type { NewTask, StartOptions, TaskControl } from "../ports.ts";
import { storedText } from "../store/postgres/stored-text.ts";
import type { NodeLife } from "./cluster-tasks.ts";
import { type NamedProject, type NodeLabels, projectNeed } from "./node-labels.ts";

/** Where a root works: the folder of its project, or the folder that a schedule starts its work in. */
const Folder = z.string().refine(isAbsolute);
const Named = z.object({ name: z.string(), folder: Folder });
const Places = z.looseObject({ project: Folder.optional(), folder: Folder.optional(), named: Named.optional() });

/** What is said to all nodes when there are trees that nobody runs. */
export const freeTree = "free";

interface Place {
  readonly places: z.infer<typeof Places> | undefined;
  readonly named: NamedProject | undefined;
  /** The name of the project, or its folder; undefined for a tree that has none. */
  readonly project: string | undefined;
}

/** Where a tree works, from what its root was given. */
export function placeOf(config: unknown, labels: NodeLabels): Place {
  const places = Places.safeParse(config).data;
  const folder = places?.project ?? places?.folder;
  // The same work again may be recorded with the folder that another machine has for the project.
  const named = folder === undefined ? undefined : (places?.named ?? labels.namedAt(folder));
  return { places, named, project: named?.name ?? folder };
}

/** With the start of its tree a root is recorded to work in a project that a person named, so that every node finds it. */
export async function startPlaced(
  { node, engine, labels }: NodeLife,
  task: NewTask,
  options: StartOptions,
): ReturnType<TaskControl["start"]> {
  const { kind, config } = task.runner;
  const { named, project, places } = placeOf(config, labels);
  const runners = engine.runners.knows(kind) ? (options.runners ?? []) : [kind, ...(options.runners ?? [])];
  const needs = [
    ...(options.needs ?? []).map(storedText),
    ...(project === undefined ? [] : [projectNeed(project)]),
    ...new Set(runners.map((runner) => labels.runnerNeed(runner, project))),
  ];
  if (needs.length === 0) return engine.start(task, options);
  const placed = named === undefined ? task : { ...task, runner: { kind, config: { ...places, named } } };
  const here = await labels.has(needs);
  let made: number | undefined;
  const place = (root: number): boolean => {
    node.placeTree(root, { needs, here });
    made = root;
    return here;
  };
  const started = await engine.start(placed, { ...options, place });
  if (made !== undefined && !here) {
    node.forget([made]);
    // If this is not heard, it is found at the next beat of a node.
    await node.rows("SELECT tell_of_free()").catch(() => undefined);
  }
  return started;
}
