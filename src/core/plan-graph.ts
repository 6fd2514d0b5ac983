// The tasks of a goal as a graph: a decision's tasks become planned ones, and each is ready once what it comes after is verified.

import type { Dropped, TaskSpec } from "../protocol/decision/decision.ts";
import { isLaunchable } from "../protocol/decision/decision.ts";
import type { PlannedTask } from "../protocol/task/goal.ts";
import { trimSpace } from "../protocol/white-space.ts";
import { launchable } from "./launch.ts";
import { folderInside } from "./folder-inside.ts";
import { leadsToProtected } from "./protected-path.ts";

interface PlanNode {
  readonly task: PlannedTask;
  /** The first task of the line that this one stands in: itself, or what it replaces, through all rounds. */
  readonly origin: string;
  /** How many of the lines it comes after have no verified task yet. */
  open: number;
  state: "waiting" | "launched" | "verified" | "failed" | "replaced";
}

/** A task and those that took its place. It is verified when one of them is. */
interface TaskLine {
  verified: boolean;
  /** Ids of tasks that come after it. */
  readonly followers: string[];
}

export interface PlanGraph {
  readonly nodes: Map<string, PlanNode>;
  readonly lines: Map<string, TaskLine>;
  /** Ids of tasks that may be launched, in the order in which they became ready. */
  readonly ready: string[];
}

export function emptyGraph(): PlanGraph {
  return { nodes: new Map(), lines: new Map(), ready: [] };
}

export interface PlanBounds {
  readonly round: number;
  /** Folders the goal may touch. A relative workdir begins at the first. */
  readonly roots: readonly string[];
  /** How many tasks the goal may have in all rounds. */
  readonly most: number;
  /** The agents that there are; an unknown one is not used. */
  readonly agents: readonly string[];
}

export interface PlannedRound {
  readonly tasks: readonly PlannedTask[];
  readonly dropped: readonly Dropped[];
}

/**
 * The tasks of a decision as they will be carried out, with what is not carried out and why. Ids are unique over all
 * rounds. A task with the id of an earlier one that is not verified takes its place. A task that comes after one that was
 * dropped is dropped as well, because it could not get what it builds on.
 */
export function planRound(graph: PlanGraph, specs: readonly TaskSpec[], bounds: PlanBounds): PlannedRound {
  const dropped: Dropped[] = [...launchable(specs).dropped];
  const drafts: Draft[] = [];
  const names = new Map<string, string>();
  const used = new Set(graph.nodes.keys());
  const lost = new Set<string>();
  specs.forEach((spec, index) => {
    const given = idIn(spec.id);
    const lose = (reason?: string): void => {
      if (given !== "") lost.add(given);
      if (reason !== undefined) dropped.push({ what: nameOf(spec, index), reason });
    };
    if (!isLaunchable(spec)) return lose();
    const workdir = folderInside(trimSpace(spec.workdir), bounds.roots);
    if (workdir === undefined) {
      return lose(`workdir ${spec.workdir} is outside the folders of the goal (${bounds.roots.join(", ") || "none"})`);
    }
    if (bounds.roots.some((root) => workdir.startsWith(`${root}/`) && isProtectedBelow(root, workdir))) {
      return lose(`workdir ${spec.workdir} is a protected folder; a task works in the folder that contains it`);
    }
    if (graph.nodes.size + drafts.length >= bounds.most) {
      return lose(`the goal may have ${bounds.most} tasks, and has as many already`);
    }
    const id = freshId(given === "" ? `task-${graph.nodes.size + drafts.length + 1}` : given, used, bounds.round);
    used.add(id);
    if (given !== "" && names.has(given)) {
      dropped.push({ what: `tasks[${index}].id`, reason: `${given} names two tasks; this one is called ${id}` });
    } else if (given !== "") names.set(given, id);
    drafts.push({ spec, index, id, workdir, replaces: replacedBy(graph, given) });
  });
  for (const name of names.keys()) lost.delete(name);
  const tasks = drafts.map((draft) => planned(draft, { graph, names, lost, bounds, dropped }));
  return { tasks: withoutCycles(tasks, { lost, drafts, dropped }), dropped };
}

/** Inside of such a folder, the names of its files alone would not tell that they are protected. */
function isProtectedBelow(root: string, workdir: string): boolean {
  return leadsToProtected(workdir.slice(root.length + 1).split("/"));
}

interface Draft {
  readonly spec: TaskSpec;
  readonly index: number;
  readonly id: string;
  readonly workdir: string;
  readonly replaces: string | null;
}

/** Ids stand in keys and in texts, so they are kept short and plain. */
function idIn(id: string | undefined): string {
  return trimSpace(id ?? "")
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, 40);
}

function nameOf({ id }: TaskSpec, index: number): string {
  return id === undefined ? `tasks[${index}]` : `tasks[${index}] (${id})`;
}

function freshId(wanted: string, used: ReadonlySet<string>, round: number): string {
  if (!used.has(wanted)) return wanted;
  for (let n = Math.max(2, round); ; n += 1) if (!used.has(`${wanted}-${n}`)) return `${wanted}-${n}`;
}

/** The newest task of the line that the id stands for, unless that line is verified. */
function replacedBy(graph: PlanGraph, given: string): string | null {
  const origin = graph.nodes.get(given)?.origin;
  if (origin === undefined || graph.lines.get(origin)?.verified === true) return null;
  let newest = given;
  for (const [id, node] of graph.nodes) if (node.origin === origin) newest = id;
  return newest;
}

interface Planning {
  readonly graph: PlanGraph;
  /** Ids as the decision says them, to the ids that the tasks were given. */
  readonly names: ReadonlyMap<string, string>;
  readonly lost: ReadonlySet<string>;
  readonly bounds: PlanBounds;
  readonly dropped: Dropped[];
}

function planned({ spec, index, id, workdir, replaces }: Draft, planning: Planning): PlannedTask {
  const { graph, names, lost, bounds, dropped } = planning;
  const after = new Set<string>();
  for (const given of spec.after ?? []) {
    const name = idIn(given);
    const found = names.get(name) ?? (graph.nodes.has(name) ? name : undefined);
    if (found !== undefined) after.add(found);
    // It is dropped with the task that it names.
    else if (lost.has(name)) after.add(name);
    else dropped.push({ what: `tasks[${index}].after`, reason: `there is no task ${given}` });
  }
  const isKnown = spec.agent === undefined || bounds.agents.includes(spec.agent);
  if (!isKnown) dropped.push({ what: `tasks[${index}].agent`, reason: `there is no agent ${spec.agent}` });
  const { prompt, kind, agent, runtime, model, checks, acceptance, conf, risks, assumptions, scope } = spec;
  return {
    id,
    round: bounds.round,
    prompt,
    workdir,
    kind: kind ?? null,
    after: [...after],
    agent: isKnown ? (agent ?? null) : null,
    runtime: runtime ?? null,
    model,
    checks: checks ?? [],
    acceptance: acceptance ?? [],
    conf: conf ?? null,
    risks: risks ?? [],
    assumptions: assumptions ?? [],
    constraints: scope === undefined ? [] : [scope],
    supersedes: replaces,
  };
}

interface Lost {
  readonly lost: ReadonlySet<string>;
  readonly drafts: readonly Draft[];
  readonly dropped: Dropped[];
}

/** Takes tasks off that wait for nothing until none is left to take; those that remain wait for each other or for a lost one. */
function withoutCycles(tasks: readonly PlannedTask[], { lost, drafts, dropped }: Lost): PlannedTask[] {
  const own = new Set(tasks.map(({ id }) => id));
  const followers = new Map<string, number[]>();
  const open = tasks.map(({ after }, at) => {
    const inside = after.filter((id) => own.has(id) || lost.has(id));
    for (const id of inside) {
      const known = followers.get(id);
      if (known === undefined) followers.set(id, [at]);
      else known.push(at);
    }
    return inside.length;
  });
  const free = open.flatMap((count, at) => (count === 0 ? [at] : []));
  const kept = new Set(free);
  for (const at of free) {
    for (const follower of followers.get(tasks[at]?.id ?? "") ?? []) {
      open[follower] = (open[follower] ?? 0) - 1;
      if (open[follower] !== 0) continue;
      kept.add(follower);
      free.push(follower);
    }
  }
  const left = new Set(tasks.flatMap(({ id }, at) => (kept.has(at) ? [] : [id])));
  tasks.forEach(({ after }, at) => {
    const draft = drafts[at];
    if (kept.has(at) || draft === undefined) return;
    const missing = after.find((id) => lost.has(id) && !own.has(id));
    const reason =
      missing === undefined
        ? `it waits for ${after.filter((id) => left.has(id)).join(", ")}, and that can never end`
        : `it comes after ${missing}, which was dropped`;
    dropped.push({ what: nameOf(draft.spec, draft.index), reason });
  });
  return tasks.filter((_, at) => kept.has(at));
}

/** Adds planned tasks. A task that is replaced before it was launched is not launched any more. */
export function addToGraph(graph: PlanGraph, tasks: readonly PlannedTask[]): void {
  for (const task of tasks) {
    const replaced = task.supersedes === null ? undefined : graph.nodes.get(task.supersedes);
    if (replaced?.state === "waiting") replaced.state = "replaced";
    const origin = replaced?.origin ?? task.id;
    if (!graph.lines.has(origin)) graph.lines.set(origin, { verified: false, followers: [] });
    graph.nodes.set(task.id, { task, origin, open: 0, state: "waiting" });
  }
  for (const { id, after } of tasks) {
    const node = graph.nodes.get(id);
    if (node === undefined) continue;
    const lines = new Set(after.flatMap((each) => graph.nodes.get(each)?.origin ?? []));
    for (const origin of lines) {
      const line = graph.lines.get(origin);
      if (line === undefined || line.verified || origin === node.origin) continue;
      line.followers.push(id);
      node.open += 1;
    }
    if (node.open === 0) graph.ready.push(id);
  }
}

/** Takes at most `most` tasks that can be launched now; they count as launched. */
export function takeReady(graph: PlanGraph, most: number): PlannedTask[] {
  const taken: PlannedTask[] = [];
  while (taken.length < most) {
    const id = graph.ready.shift();
    if (id === undefined) break;
    const node = graph.nodes.get(id);
    if (node?.state !== "waiting") continue;
    node.state = "launched";
    taken.push(node.task);
  }
  return taken;
}

/** Records how a launched task ended. Tasks that waited only for it become ready when it was verified. */
export function settleTask(graph: PlanGraph, id: string, outcome: "verified" | "failed"): void {
  const node = graph.nodes.get(id);
  const line = node === undefined ? undefined : graph.lines.get(node.origin);
  if (node?.state !== "launched" || line === undefined) return;
  node.state = outcome;
  if (outcome === "failed" || line.verified) return;
  line.verified = true;
  for (const follower of line.followers.splice(0)) {
    const next = graph.nodes.get(follower);
    if (next === undefined) continue;
    next.open -= 1;
    if (next.open === 0 && next.state === "waiting") graph.ready.push(follower);
  }
}

/** The newest task of each line that the task comes after: those whose results it builds on. */
export function predecessorsOf(graph: PlanGraph, task: PlannedTask): readonly string[] {
  if (task.after.length === 0) return [];
  const origins = new Set(task.after.flatMap((id) => graph.nodes.get(id)?.origin ?? []));
  const found: string[] = [];
  for (const [id, { origin, state }] of graph.nodes) if (state === "verified" && origins.has(origin)) found.push(id);
  return found;
}

export interface OpenTask {
  readonly id: string;
  readonly reason: string;
}

/** What is left when nothing runs and nothing is ready: tasks that failed, and tasks that wait for one that did. */
export function unfinishedTasks(graph: PlanGraph, reasons: ReadonlyMap<string, string>): readonly OpenTask[] {
  const isOpen = ({ origin, state }: PlanNode): boolean =>
    (state === "failed" || state === "waiting") && graph.lines.get(origin)?.verified !== true;
  const found: OpenTask[] = [];
  const newest = new Map<string, string>();
  for (const [id, node] of graph.nodes) newest.set(node.origin, id);
  for (const [id, node] of graph.nodes) {
    if (!isOpen(node) || newest.get(node.origin) !== id) continue;
    const waits = node.task.after.filter((each) => {
      const origin = graph.nodes.get(each)?.origin ?? "";
      return graph.lines.get(origin)?.verified === false;
    });
    const why = node.state === "failed" ? (reasons.get(id) ?? "it failed") : `it waits for ${waits.join(", ")}`;
    found.push({ id, reason: why });
  }
  return found;
}

/** Whether tasks wait for others, or to be launched. */
export function hasWaiting(graph: PlanGraph): boolean {
  for (const { state } of graph.nodes.values()) if (state === "waiting") return true;
  return false;
}

/** True when the goal has tasks and none of them is verified. */
export function hasAllFailed(graph: PlanGraph): boolean {
  return graph.lines.size > 0 && [...graph.lines.values()].every(({ verified }) => !verified);
}
