// `tutti invoke`: runs an invocation, shows how it goes, asks what has to be asked, prints the result.
import type { Tutti } from "../../client/client.ts";
import type { Host } from "../../host/host.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import { readInvocationFile } from "../../protocol/invocation/invocation-file.ts";
import { type AgentResult, InvocationResult } from "../../protocol/invocation/invocation-result.ts";
import { describeIssues } from "../../protocol/lenient-read.ts";
import { askInline } from "../terminal/ask-inline.ts";
import { readText } from "../input.ts";
import { dim, warn, writeLine } from "../terminal/output.ts";
import { showProgress } from "../terminal/progress.ts";
import { printable } from "../terminal/printable.ts";
import { commandLine, withDaemon, withTutti } from "../connect.ts";
import { runCost } from "../terminal/run-cost.ts";
import { markOf, totalsLine } from "../terminal/task-tree.ts";
import { type Watch, watchTask } from "../terminal/watch-task.ts";

export interface InvokeOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly new?: boolean;
  readonly detach?: boolean;
  readonly quiet?: boolean;
  readonly limit: number;
}

export async function invokeCommand(host: Host, file: string, options: InvokeOptions): Promise<void> {
  const text = await readText(file, options.limit);
  const given = { folder: process.cwd(), anew: options.new === true };
  if (options.detach === true) {
    refuseUnusable(text);
    return withDaemon(host, options, async (tutti) => {
      const started = await tutti.invoke(text, given);
      for (const warning of started.warnings) warn(warning);
      await tellStarted(tutti, started, options);
    });
  }
  await withTutti(host, options, async ({ tutti, follows }) => {
    const { task, existed, warnings } = await tutti.invoke(text, given);
    follows(task);
    for (const warning of warnings) warn(warning);
    if (existed) console.error(dim(`going on with ${task}, which was not finished; --new starts another`));
    await follow(tutti, watchTask(tutti, task), options);
  });
}

/** Before a daemon is started for it. */
function refuseUnusable(text: string): void {
  const reading = readInvocationFile(text);
  if (reading.ok) return;
  throw new TuttiError("invalid_input", `the invocation cannot be used: ${describeIssues(reading.issues)}`);
}

async function tellStarted(
  { url }: Tutti,
  { task, existed }: { readonly task: string; readonly existed: boolean },
  { json, state }: InvokeOptions,
): Promise<void> {
  if (json === true) return writeLine(JSON.stringify({ task, existed, url }));
  await writeLine(task);
  const begun = existed ? "it was not finished and goes on; --new starts another" : "it is on its way";
  console.error(dim(`${begun}; follow it with \`${commandLine(state, `logs -f ${task}`)}\``));
}

async function follow(tutti: Tutti, watch: Watch, options: InvokeOptions): Promise<void> {
  const { task } = watch;
  const quiet = options.quiet === true || options.json === true;
  const progress = quiet ? undefined : showProgress(tutti, watch);
  const asking = askInline(tutti, watch, {
    screen: { pause: () => progress?.pause(), resume: () => progress?.resume() },
    state: options.state,
  });
  let shown = false;
  try {
    const result = await tutti.result(task);
    await tutti.settled(task);
    await watch.drained();
    asking.stop();
    shown = true;
    await progress?.stop();
    const tree = await tutti.tree(task);
    const cost = runCost(tree, watch.notes);
    await writeLine(
      options.json === true
        ? JSON.stringify({ task, status: result.status, result: result.content, rehearsal: cost.rehearsal })
        : await show(result, tutti),
    );
    if (!quiet) console.error(dim(totalsLine(tree, cost, Date.now())));
    if (!succeeded(result)) process.exitCode = errorTable.task_failed.exit;
  } finally {
    asking.stop();
    watch.stop();
    if (!shown) await progress?.stop();
  }
}

async function show(result: AgentResult, tutti: Tutti): Promise<string> {
  const parsed = InvocationResult.safeParse(result.content);
  if (!parsed.success) return `${markOf(result.status)} ${plain(result.content)}`;
  switch (parsed.data.kind) {
    case "scalar":
      return resultLine(parsed.data.result);
    case "vector":
      return parsed.data.results.map(resultLine).join("\n");
    case "task_ids": {
      const views = await Promise.all(parsed.data.task_ids.map((id) => tutti.task(id)));
      return views
        .map(
          (view) => `${markOf(view.status)} ${dim(view.id)} ${view.result === null ? view.status : plain(view.result)}`,
        )
        .join("\n");
    }
  }
}

function resultLine(result: AgentResult): string {
  return `${markOf(result.status)} ${dim(result.task_id)} ${plain(result.content)}`;
}

function plain(content: unknown): string {
  if (typeof content === "string") return printable(content);
  if (typeof content === "object" && content !== null && "message" in content && "code" in content)
    return printable(String(content.message));
  return JSON.stringify(content);
}

function succeeded(result: AgentResult): boolean {
  if (result.status !== "completed") return false;
  const parsed = InvocationResult.safeParse(result.content);
  if (!parsed.success) return true;
  if (parsed.data.kind === "scalar") return parsed.data.result.status === "completed";
  return parsed.data.kind === "task_ids" || parsed.data.results.every((each) => each.status === "completed");
}
