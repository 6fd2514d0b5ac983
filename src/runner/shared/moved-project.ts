// A project that lies elsewhere on this machine than where its tree was started: what is recorded keeps the folders of then.

import { z } from "zod";

import type { Rights } from "../../core/rights.ts";
import type {
  Durable,
  GivenUp,
  Handover,
  NewTask,
  Runner,
  RunnerRegistry,
  RunningStep,
  Schema,
  StepOptions,
} from "../../ports.ts";
import { withParts } from "./with-parts.ts";

/** In the config of a root: the name that people gave to its project, and the project's folder where the tree was started. */
const NamedConfig = z.looseObject({ named: z.object({ name: z.string(), folder: z.string() }) });

/** The folder of the project with this name on this machine; undefined where there is none. */
export type FolderOf = (name: string) => string | undefined;

interface Move {
  readonly from: string;
  readonly to: string;
}

function moveOf(rootConfig: unknown, folderOf: FolderOf): Move | undefined {
  const named = NamedConfig.safeParse(rootConfig).data?.named;
  const to = named === undefined ? undefined : folderOf(named.name);
  return named === undefined || to === undefined || to === named.folder ? undefined : { from: named.folder, to };
}

/** A value with the folders of its project as they are on this machine. */
export function valueHere(value: unknown, rootConfig: unknown, folderOf: FolderOf): unknown {
  const move = moveOf(rootConfig, folderOf);
  return move === undefined ? value : moved(value, move);
}

/** The same task, with the folders of its project as they are on this machine. */
export function taskHere(durable: Durable, folderOf: FolderOf): Durable {
  const { rootConfig } = durable;
  const move = moveOf(rootConfig, folderOf);
  if (move === undefined) return durable;
  const back = { from: move.to, to: move.from };
  const reading = <T>(schema: Schema<T>): Schema<T> => ({ parse: (value) => schema.parse(moved(value, move)) });
  return withParts(durable, {
    rootConfig: moved(rootConfig, move),
    rights: movedRights(durable.rights, move),
    restore: <T>(schema: Schema<T>) => durable.restore(reading(schema)),
    stoppedState: <T>(schema: Schema<T>) => durable.stoppedState(reading(schema)),
    save: (key: string, state: unknown) => durable.save(key, moved(state, back)),
    // What a step is about to do is compared with what was recorded before the tree came here.
    step: <T>(key: string, options: StepOptions<T>, body: (context: RunningStep) => Promise<T> | T) =>
      durable.step(key, { ...options, input: moved(options.input, back) }, body),
    spawn: (key: string, children: readonly NewTask[], shared?: unknown) =>
      durable.spawn(
        key,
        children.map((child) => recordedTask(child, back)),
        shared,
      ),
    handover: (key: string, to: Handover) =>
      durable.handover(key, { ...to, ...(to.rights === undefined ? {} : { rights: movedRights(to.rights, back) }) }),
    again: (key: string, why: GivenUp) => {
      const { runner } = why;
      return durable.again(key, {
        ...why,
        ...(runner === undefined ? {} : { runner: { ...runner, config: moved(runner.config, back) } }),
      });
    },
  });
}

/** Runners that find the folders of a task's project on this machine. */
export function runnersHere(runners: RunnerRegistry, folderOf: FolderOf): RunnerRegistry {
  const here =
    (run: Runner): Runner =>
    (durable, config) =>
      run(taskHere(durable, folderOf), valueHere(config, durable.rootConfig, folderOf));
  return Object.fromEntries(Object.entries(runners).map(([kind, run]) => [kind, here(run)]));
}

function recordedTask(task: NewTask, back: Move): NewTask {
  const { runner, rights } = task;
  return {
    ...task,
    runner: { ...runner, config: moved(runner.config, back) },
    rights: movedRights(rights, back),
  };
}

function movedRights(rights: Rights, move: Move): Rights {
  return { ...rights, roots: rights.roots.map((root) => movedPath(root, move)) };
}

/** Texts that are a path in the project, wherever they stand in the value. */
function moved(value: unknown, move: Move): unknown {
  if (typeof value === "string") return movedPath(value, move);
  if (Array.isArray(value)) return value.map((each: unknown) => moved(each, move));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, moved(each, move)]));
}

function movedPath(text: string, { from, to }: Move): string {
  if (text === from) return to;
  return text.startsWith(`${from}/`) ? `${to}${text.slice(from.length)}` : text;
}
