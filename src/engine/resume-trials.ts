// Finds out which resumed task ends the process: those that may be it begin in groups, which get smaller with every end.

import type { Clock } from "../ports.ts";
import type { LiveTask } from "./live-task.ts";

/** A group that has not ended the process within this time makes room for the next one. */
const trialMs = 2_000;
/** Tasks are resumed one after the other; those that come within this time still join the group. */
const gatherMs = 500;
/**
 * How many tasks are on trial together, by how often they were under way when the process ended. From three on a task is
 * alone: it is parked only after it ended the process twice while no other task was on trial.
 */
const groupSizes = [64, 64, 8];

interface Suspect {
  readonly task: LiveTask;
  readonly onSurvived: () => void;
}

interface Waiting extends Suspect {
  readonly begin: () => void;
}

interface Group {
  /** How often its tasks were under way when the process ended. */
  readonly ends: number;
  readonly since: number;
  readonly members: Map<LiveTask, Suspect>;
  begun: number;
  readonly callOff: () => void;
}

export class ResumeTrials {
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #current: Group | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves when it is the turn of the task. `onSurvived`: the task was under way all the time, and others begin now, on
   * which a next end will be blamed.
   */
  turn(task: LiveTask, onSurvived: () => void): Promise<void> {
    return new Promise((resolve) => {
      const suspect = { task, onSurvived, begin: resolve };
      if (this.#current === undefined) this.#start([suspect]);
      else if (this.#mayJoin(this.#current, task)) add(this.#current, suspect);
      else this.#waiting.push(suspect);
    });
  }

  #mayJoin({ ends, since, begun }: Group, task: LiveTask): boolean {
    return ends === endsOf(task) && begun < sizeOf(ends) && this.#clock.now() - since < gatherMs;
  }

  #start(suspects: readonly Waiting[]): void {
    const [first] = suspects;
    if (first === undefined) return;
    const callOff = this.#clock.timer(trialMs, () => this.#survived());
    const since = this.#clock.now();
    const group: Group = { ends: endsOf(first.task), since, members: new Map(), begun: 0, callOff };
    this.#current = group;
    for (const suspect of suspects) add(group, suspect);
  }

  #survived(): void {
    const members = [...(this.#current?.members.values() ?? [])];
    if (this.#waiting.length > 0) for (const { onSurvived } of members) onSurvived();
    this.#next();
  }

  #next(): void {
    this.#current?.callOff();
    this.#current = undefined;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const ends = endsOf(first.task);
    const chosen = this.#waiting.filter(({ task }) => endsOf(task) === ends).slice(0, sizeOf(ends));
    const others = this.#waiting.filter((suspect) => !chosen.includes(suspect));
    this.#waiting.splice(0, this.#waiting.length, ...others);
    this.#start(chosen);
  }

  /** The task got further, only waits, or is over. Does nothing when it is not its turn. */
  over(task: LiveTask): void {
    if (this.#current?.members.delete(task) === true && this.#current.members.size === 0) this.#next();
  }
}

function add(group: Group, suspect: Waiting): void {
  group.members.set(suspect.task, suspect);
  group.begun += 1;
  suspect.begin();
}

function endsOf({ resume }: LiveTask): number {
  return resume?.count ?? 0;
}

function sizeOf(ends: number): number {
  return groupSizes[ends] ?? 1;
}
