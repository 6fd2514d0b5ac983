// `tutti agents run`: one agent on one prompt, with a live transcript, questions inline, the cost and the result.
import { statSync } from "node:fs";
import { resolve } from "node:path";

import type { Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import { type AgentResult, InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { askInline } from "../terminal/ask-inline.ts";
import { readText } from "../input.ts";
import { dim, warn, writeLine } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";
import { withTutti } from "../connect.ts";
import { runCost } from "../terminal/run-cost.ts";
import { duration, markOf, money } from "../terminal/task-tree.ts";
import { showTranscript } from "../terminal/transcript.ts";
import { type Watch, watchTask } from "../terminal/watch-task.ts";

export interface RunOptions {
  readonly cwd?: string;
  readonly model?: string;
  readonly script?: string;
  readonly state?: string;
  readonly new?: boolean;
  readonly quiet?: boolean;
  readonly json?: boolean;
  readonly limit: number;
}

export async function runAgent(host: Host, name: string, prompt: string, options: RunOptions): Promise<void> {
  const folder = resolve(options.cwd ?? ".");
  mustBeFolder(folder, options.cwd);
  const project = await host.project(folder);
  const script = options.script === undefined ? undefined : await readText(options.script, options.limit);
  const text = prompt === "-" ? await readText("-", options.limit) : prompt;
  const run = await project.prepareRun({ agent: name, prompt: text, folder, model: options.model, script });
  await withTutti(host, { state: options.state, from: folder }, async ({ tutti, follows }) => {
    const { task, existed, warnings } = await tutti.invoke(run.text, { folder, anew: options.new === true });
    follows(task);
    for (const warning of warnings) warn(warning);
    if (options.json !== true) {
      const playing = run.rehearsal ? `${run.model}: a rehearsal, no model is called` : run.model;
      console.error(dim(`${task} ${playing}`));
    }
    if (existed) console.error(dim(`going on with ${task}, which was not finished; --new starts another`));
    await follow(tutti, watchTask(tutti, task), options);
  });
}

/** Said before anything is looked for in it: a project that is not there has no agents either. */
function mustBeFolder(folder: string, given: string | undefined): void {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw new TuttiError("not_found", `there is no folder ${given ?? folder}`);
  if (!found.isDirectory()) throw new TuttiError("invalid_input", `${given ?? folder} is a file; name a folder`);
}

async function follow(tutti: Tutti, watch: Watch, options: RunOptions): Promise<void> {
  const quiet = options.quiet === true || options.json === true;
  const transcript = quiet ? undefined : showTranscript(watch);
  const asking = askInline(tutti, watch, {
    screen: { pause: () => transcript?.pause(), resume: () => transcript?.resume() },
    state: options.state,
  });
  try {
    const outcome = await tutti.result(watch.task);
    await tutti.settled(watch.task);
    await watch.drained();
    asking.stop();
    transcript?.stop();
    await tell(tutti, watch, { result: resultOf(outcome), options });
  } finally {
    asking.stop();
    transcript?.stop();
    watch.stop();
  }
}

/** The agent's own result; that of the invocation when the agent could not be started. */
function resultOf(outcome: AgentResult): AgentResult {
  const parsed = InvocationResult.safeParse(outcome.content);
  return parsed.success && parsed.data.kind === "scalar" ? parsed.data.result : outcome;
}

async function tell(
  tutti: Tutti,
  { task, notes }: Watch,
  { result, options }: { readonly result: AgentResult; readonly options: RunOptions },
): Promise<void> {
  const cost = runCost(await tutti.tree(task), notes);
  const ok = result.status === "completed";
  if (!ok) process.exitCode = errorTable.task_failed.exit;
  if (options.json === true) {
    const { status, content } = result;
    return writeLine(JSON.stringify({ task, status, result: content, ...cost }));
  }
  if (ok) await writeLine(plain(result.content));
  else console.error(`${markOf(result.status)} ${plain(result.content)}`);
  if (options.quiet !== true) {
    const known = cost.money_micro_usd > 0 ? [money(cost.money_micro_usd)] : [];
    const spent = cost.unpriced ? [...known, "and calls whose price is not known"] : known;
    console.error(dim([duration(cost.ms), `${cost.tokens} tokens`, ...spent].join(", ")));
  }
  if (cost.rehearsal) console.error(dim("rehearsal: a script was played, no model was called"));
}

function plain(content: unknown): string {
  const text =
    typeof content === "object" && content !== null && "message" in content && "code" in content
      ? String(content.message)
      : typeof content === "string"
        ? content
        : (JSON.stringify(content, null, 2) ?? "");
  // A file or another program gets what the agent said, to the byte.
  return process.stdout.isTTY === true ? printable(text) : text;
}
