// Opens a state folder: the one place that builds implementations and puts them together.

import { createHash } from "node:crypto";
import { homedir } from "node:os";

import type { Opener, Working } from "../client/client.ts";
import { systemClock } from "../engine/clock.ts";
import { Engine } from "../engine/engine.ts";
import { models } from "../model/models.ts";
import { rehearsalModel } from "../model/rehearsal/rehearsal-model.ts";
import { TuttiError } from "../protocol/error.ts";
import type { LiveDelta } from "../protocol/event.ts";
import { type InvocationFile, readInvocationFile } from "../protocol/invocation-file.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { ReadIssue } from "../protocol/lenient-read.ts";
import { readCommandConfig } from "../runner/command/command-config.ts";
import { commandRunner } from "../runner/command/command-runner.ts";
import { checkInvocation, invocationRunner } from "../runner/invocation/invocation-runner.ts";
import { invocationTask } from "../runner/invocation/invocation-task.ts";
import { localRunner } from "../runner/local/local-runner.ts";
import { cleanUp } from "../runner/process/clean-up.ts";
import { makeFolder } from "../store/sqlite/database.ts";
import { takeLock } from "../store/sqlite/lock.ts";
import { pruneTrees } from "../store/sqlite/prune.ts";
import { openStore } from "../store/sqlite/sqlite-store.ts";
import { openView } from "../store/sqlite/sqlite-view.ts";
import { loadConfig } from "./config.ts";
import { furnish } from "./furnish.ts";
import { lookingOver } from "./looking.ts";
import { projectFolder } from "./project-folder.ts";

export const opener: Opener = {
  look: (folder) => lookingOver(openView(folder)),
  work: openWorking,
  prune(folder, options) {
    const lock = takeLock(folder);
    try {
      return pruneTrees(folder, options);
    } finally {
      lock.release();
    }
  },
  // Loaded when asked for: running a tree needs no reader of definitions.
  project: async (from) => (await import("./open-project.ts")).openProject(from),
};

/** A rehearsal without a script would end well and have done nothing. */
function needsScript({ agents, model, script }: InvocationFile, agent: string): void {
  const name = agents[agent]?.model ?? model;
  if (script !== undefined || (name !== undefined && !name.startsWith("rehearsal"))) return;
  const message = `${agent} has no model and there is no script to rehearse; set a model up (\`tutti doctor\`), or give a script`;
  throw new TuttiError("invalid_input", message);
}

function worded({ path, message }: ReadIssue): string {
  return path === "" ? message : `${path}: ${message}`;
}

async function openWorking(folder: string, { from }: { readonly from?: string } = {}): Promise<Working> {
  const loaded = await loadConfig(projectFolder(from ?? process.cwd(), homedir()));
  const all = models({ config: loaded.config.models, env: process.env, clock: systemClock });
  const house = await furnish(loaded, folder);
  makeFolder(folder);
  const lock = takeLock(folder);
  let opened: { close: () => void } | undefined;
  try {
    const store = openStore(folder);
    opened = store;
    const listeners = new Set<(delta: LiveDelta) => void>();
    const parked: { task: TaskId; runner: string }[] = [];
    const engine = new Engine({
      store,
      clock: systemClock,
      runners: {
        invocation: invocationRunner(house),
        local: localRunner({
          model: (file) => all.withRehearsal(rehearsalModel(file.script ?? {})),
          ...house,
        }),
        command: commandRunner,
      },
      cleanUp,
      onParked: (task, runner) => parked.push({ task, runner }),
      onLive: (delta) => {
        for (const listener of listeners) listener(delta);
      },
    });
    const resumed = await engine.recover();
    const looking = lookingOver(openView(folder));
    return {
      looking,
      resumed,
      parked,
      async invoke(text, { folder: from, anew }) {
        const reading = readInvocationFile(text);
        if (!reading.ok) {
          const said = reading.issues.map(worded).join("; ");
          throw new TuttiError("invalid_input", `the invocation cannot be used: ${said}`, {
            details: { issues: reading.issues },
          });
        }
        const task = invocationTask(reading.file, { folder: from });
        for (const child of checkInvocation(reading.file, task, house)) {
          if (child.runner.kind === "command") readCommandConfig(child.runner.config);
          if (child.runner.kind === "local") needsScript(reading.file, child.agent);
        }
        // The same text elsewhere is other work when it names folders relative to where it is run.
        const key = createHash("sha256").update(text).update("\0").update(task.rights.roots.join("\0")).digest("hex");
        const started = await engine.start(task, { key, anew });
        return { ...started, warnings: reading.warnings.map(worded) };
      },
      result: (task, signal) => engine.result(task, signal),
      async deliver(wait, value, by) {
        const delivery = await engine.deliver(wait, value, by);
        return delivery.outcome === "accepted" ? { accepted: true } : { accepted: false, message: delivery.message };
      },
      cancel: (task, reason) => engine.cancel(task, reason),
      settled: (task) => engine.settled(task),
      onChange: (listener) => store.onCommit(listener),
      onLive(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      async close() {
        await engine.stop();
        looking.close();
        store.close();
        lock.release();
      },
    };
  } catch (thrown) {
    opened?.close();
    lock.release();
    throw thrown;
  }
}
