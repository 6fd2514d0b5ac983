// Starts a tree with what it needs: here when this node has all of it, otherwise for whichever node has.

import { isAbsolute } from "node:path";

import { z } from "zod";

import type { NewTask, StartOptions, TaskControl } from "../ports.ts";
import { storedText } from "../store/postgres/stored-text.ts";
import type { NodeLife } from "./cluster-tasks.ts";

/** Where a root works: the folder of its project, or the folder that a schedule starts its work in. */
const Folder = z.string().refine(isAbsolute);
const Places = z.looseObject({ project: Folder.optional(), folder: Folder.optional() });

/** What is said to all nodes when a tree was made that none of them runs yet. */
export const freeTree = "free";

/** With the start of its tree a root is recorded to work in a project that a person named, so that every node finds it. */
export async function startPlaced(
  { node, engine, labels }: NodeLife,
  task: NewTask,
  options: StartOptions,
): ReturnType<TaskControl["start"]> {
  const { kind, config } = task.runner;
  const places = Places.safeParse(config).data;
  const folder = places?.project ?? places?.folder;
  const needs = [...(options.needs ?? []).map(storedText), ...(folder === undefined ? [] : [labels.needOf(folder)])];
  if (needs.length === 0) return engine.start(task, options);
  const named = folder === undefined ? undefined : labels.namedAt(folder);
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
    const told = node.rows("SELECT pg_notify('tutti_commands_' || current_schema(), $1)", [freeTree]);
    await told.catch(() => undefined);
  }
  return started;
}
