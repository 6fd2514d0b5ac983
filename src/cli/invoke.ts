// `tutti invoke`: runs an invocation in this process, shows how it goes, asks what has to be asked, prints the result.
import type { Opener, Working } from "../client/client.ts";
import { errorTable } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { type AgentResult, InvocationResult } from "../protocol/invocation-result.ts";
import { isTerminal } from "../protocol/task-status.ts";
import { askInline } from "./ask-inline.ts";
import { readText } from "./input.ts";
import { dim, warn, writeLine } from "./output.ts";
import { showProgress } from "./progress.ts";
import { stateFolder } from "./state-folder.ts";
import { printable } from "./printable.ts";
import { runCost } from "./run-cost.ts";
import { markOf, totalsLine } from "./task-tree.ts";
import { withWorking } from "./with-working.ts";

export interface InvokeOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly new?: boolean;
  readonly detach?: boolean;
  readonly quiet?: boolean;
  readonly limit: number;
}

export async function invokeCommand(opener: Opener, file: string, options: InvokeOptions): Promise<void> {
  const text = await readText(file, options.limit);
  await withWorking(opener, { state: stateFolder(options.state) }, async (working) => {
    const { task, existed, warnings } = await working.invoke(text, {
      folder: process.cwd(),
      anew: options.new === true,
    });
    for (const warning of warnings) warn(warning);
    if (existed) console.error(dim(`going on with ${task}, which was not finished; --new starts another`));
    await follow(working, task, options);
  });
}

async function follow(working: Working, task: TaskId, options: InvokeOptions): Promise<void> {
  const quiet = options.quiet === true || options.json === true;
  const progress = quiet ? undefined : showProgress(working, task);
  const asking = askInline(working, task, { pause: () => progress?.pause(), resume: () => progress?.resume() });
  try {
    const result = await working.result(task);
    if (options.detach !== true) await working.settled(task);
    progress?.stop();
    const cost = runCost(working.looking, task);
    await writeLine(
      options.json === true
        ? JSON.stringify({ task, status: result.status, result: result.content, rehearsal: cost.rehearsal })
        : show(result, working),
    );
    if (!quiet) console.error(dim(totalsLine(working.looking.tree(task), cost, Date.now())));
    if (!quiet) tellWhatRuns(working, task);
    if (!succeeded(result)) process.exitCode = errorTable.task_failed.exit;
  } finally {
    progress?.stop();
    asking.stop();
  }
}

/** With `--detach`, what goes on is not lost: it is durable, and the next start takes it up. */
function tellWhatRuns({ looking }: Working, task: TaskId): void {
  const open = looking.tree(task).filter((view) => !isTerminal(view.status)).length;
  if (open > 0)
    console.error(dim(`${open} still to be done; the next \`tutti invoke\` on this folder goes on with it`));
}

function show(result: AgentResult, { looking }: Working): string {
  const parsed = InvocationResult.safeParse(result.content);
  if (!parsed.success) return `${markOf(result.status)} ${plain(result.content)}`;
  switch (parsed.data.kind) {
    case "scalar":
      return resultLine(parsed.data.result);
    case "vector":
      return parsed.data.results.map(resultLine).join("\n");
    case "task_ids":
      return parsed.data.task_ids
        .flatMap((id) => looking.tree(id).slice(0, 1))
        .map(
          (view) => `${markOf(view.status)} ${dim(view.id)} ${view.result === null ? view.status : plain(view.result)}`,
        )
        .join("\n");
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
