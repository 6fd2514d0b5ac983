// The owner's side of commands: does what other nodes ask about trees that are here, each once, whoever dies in between.

import { isDeepStrictEqual } from "node:util";

import type { Engine } from "../engine/engine.ts";
import type { Delivery } from "../ports.ts";
import type { NodeStore } from "../store/postgres/postgres-store.ts";
import { recordedFailure, recordedValue, TaskCommand } from "./task-command.ts";

export interface CommandDeskOptions {
  readonly node: NodeStore;
  readonly engine: Engine;
  /** The tree is in memory here. */
  readonly isHere: (root: number) => boolean;
  readonly onProblem: (thrown: unknown) => void;
}

interface DueCommand {
  readonly id: number;
  readonly body: string;
  /** What it does was committed by an owner that died before it could answer. */
  readonly taken: boolean;
}

export class CommandDesk {
  readonly #options: CommandDeskOptions;
  /** By root: commands of one tree are done one after the other. */
  readonly #working = new Map<number, Promise<void>>();

  constructor(options: CommandDeskOptions) {
    this.#options = options;
  }

  /** There may be commands for the tree. */
  look(root: number): void {
    const { isHere, onProblem } = this.#options;
    if (!isHere(root)) return;
    const before = this.#working.get(root) ?? Promise.resolve();
    const work = before
      .then(() => this.#doDue(root))
      .catch(onProblem)
      .finally(() => {
        if (this.#working.get(root) === work) this.#working.delete(root);
      });
    this.#working.set(root, work);
  }

  /** Does what is due for a tree that this node has taken for a moment only. */
  visit(root: number): Promise<void> {
    return this.#doDue(root, () => true);
  }

  async #doDue(root: number, isHere = this.#options.isHere): Promise<void> {
    const { node, engine } = this.#options;
    const sql = "SELECT id, body, taken FROM commands WHERE root = $1 AND outcome IS NULL ORDER BY id";
    for (const row of await node.rows(sql, [root])) {
      const due = { id: Number(row["id"]), body: String(row["body"]), taken: row["taken"] === 1 };
      const outcome = await this.#outcomeOf(due, () => isHere(root));
      // The node is being stopped, was fenced or has given up the tree: the next owner sees to it.
      if (engine.halted !== undefined || outcome === undefined) return;
      node.endCommand(due.id, outcome);
      await node.store.committed();
    }
  }

  /** Undefined when the tree is not here any more, and nothing was done. */
  async #outcomeOf({ id, body, taken }: DueCommand, isHere: () => boolean): Promise<string | undefined> {
    const { node, engine } = this.#options;
    try {
      const command = TaskCommand.parse(JSON.parse(body));
      if (!isHere()) return undefined;
      if (taken) return recordedValue(await doneBefore(engine, command));
      if (await wasRetried(node, command)) return recordedValue(null);
      if (!isHere()) return undefined;
      const queued = node.queuedWrites;
      const work = perform(engine, command);
      // The engine queues what it writes before it first waits. So that it is done is recorded in the same commit.
      if (node.queuedWrites > queued) node.takeCommand(id);
      return recordedValue(await work);
    } catch (thrown) {
      return recordedFailure(thrown);
    }
  }
}

function perform(engine: Engine, command: TaskCommand): Promise<unknown> {
  switch (command.do) {
    case "deliver":
      return engine.deliver(command.wait, command.value, command.by);
    case "message":
      return engine.message(command.task, command.message, command.admitted ? { admitted: true } : {});
    case "cancel":
      return engine.cancel(command.task, command.reason);
    case "kill":
      return engine.kill(command.task, command.reason);
    case "retry":
      return engine.retry(command.task, command.once === undefined ? {} : { once: command.once });
    case "stop":
      return engine.stopTask(command.task, command.reason);
    case "interrupt":
      return engine.interruptTask(command.task, command.reason, command.by);
    case "resume":
      return engine.resumeTask(command.task, command.by);
    case "session":
      return engine.session(command.task);
  }
}

/** All retries of a task are made by the owner of its tree, so the same key never begins two attempts. */
export async function wasRetried(node: NodeStore, command: TaskCommand): Promise<boolean> {
  if (command.do !== "retry" || command.once === undefined) return false;
  await node.bringKey(command.once.key);
  return node.store.boundKey(command.once.key) !== undefined;
}

/** Its commit was the only thing it still had to do, apart from answering. */
export async function doneBefore(engine: Engine, command: TaskCommand): Promise<unknown> {
  if (command.do === "cancel" || command.do === "kill") return [];
  if (command.do !== "deliver") return null;
  const { wait, value, by } = command;
  const delivery = await engine.deliver(wait, value, by);
  return isOwnAnswer(delivery, command) ? { outcome: "accepted" } : delivery;
}

function isOwnAnswer(delivery: Delivery, { value, by }: Extract<TaskCommand, { do: "deliver" }>): boolean {
  if (delivery.outcome !== "late") return false;
  const { settled } = delivery;
  return settled.kind === "answered" && isDeepStrictEqual(settled.value, value) && isDeepStrictEqual(settled.by, by);
}
