// `tutti invoke`: runs an invocation in this process, shows how it goes, asks what has to be asked, prints the result.
import { createInterface } from "node:readline/promises";

import type { Opener, Working } from "../client/client.ts";
import { errorTable } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { type AgentResult, InvocationResult } from "../protocol/invocation-result.ts";
import { answerFrom, askText } from "./answer.ts";
import { readText } from "./input.ts";
import { dim, warn, writeLine } from "./output.ts";
import { showProgress } from "./progress.ts";
import { stateFolder } from "./state-folder.ts";
import { markOf } from "./task-tree.ts";

export interface InvokeOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly new?: boolean;
  readonly detach?: boolean;
  readonly quiet?: boolean;
  readonly limit: number;
}

const interrupted = 130;

export async function invokeCommand(opener: Opener, file: string, options: InvokeOptions): Promise<void> {
  const text = await readText(file, options.limit);
  const working = await opener.work(stateFolder(options.state));
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= working.close());
  const leave = (): void => {
    console.error("\ntutti: stopped; what was under way is kept, run the same command again to go on");
    process.exitCode = interrupted;
    void close();
  };
  process.once("SIGINT", leave);
  process.once("SIGTERM", leave);
  try {
    const { task, existed, warnings } = await working.invoke(text, {
      folder: process.cwd(),
      anew: options.new === true,
    });
    for (const warning of warnings) warn(warning);
    if (existed) console.error(dim(`going on with ${task}, which was not finished; --new starts another`));
    await follow(working, task, options);
  } catch (thrown) {
    if (closing === undefined) throw thrown;
  } finally {
    process.off("SIGINT", leave);
    process.off("SIGTERM", leave);
    await close();
  }
}

async function follow(working: Working, task: TaskId, options: InvokeOptions): Promise<void> {
  const quiet = options.quiet === true || options.json === true;
  const progress = quiet ? undefined : showProgress(working, task);
  const asking = askInline(working, task, { pause: () => progress?.pause(), resume: () => progress?.resume() });
  try {
    const result = await working.result(task);
    if (options.detach !== true) await working.settled(task);
    progress?.stop();
    await writeLine(
      options.json === true
        ? JSON.stringify({ task, status: result.status, result: result.content })
        : show(result, working),
    );
    if (!succeeded(result)) process.exitCode = errorTable.task_failed.exit;
  } finally {
    progress?.stop();
    asking.stop();
  }
}

/** On a terminal, open questions of the tree are put to the person one at a time. */
function askInline(
  working: Working,
  task: TaskId,
  screen: { pause: () => void; resume: () => void },
): { stop: () => void } {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return { stop: () => undefined };
  const stopped = new AbortController();
  const seen = new Set<string>();
  let busy = false;
  const look = async (): Promise<void> => {
    if (busy || stopped.signal.aborted) return;
    const mine = new Set(working.looking.tree(task).map((view) => view.id));
    const open = [...working.looking.asks(), ...working.looking.waits()];
    const next = open.find((each) => mine.has(each.task) && !seen.has(each.id));
    if (next === undefined) return;
    busy = true;
    screen.pause();
    const reader = createInterface({ input: process.stdin, output: process.stderr });
    try {
      const said = await reader.question(askText(next), { signal: stopped.signal });
      const delivered = await working.deliver(next.id, answerFrom(next, said), { kind: "person", name: "terminal" });
      if (delivered.accepted) seen.add(next.id);
      else console.error(`tutti: ${delivered.message}`);
    } catch (thrown) {
      if (!stopped.signal.aborted) console.error(`tutti: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    } finally {
      reader.close();
      busy = false;
      screen.resume();
    }
    await look();
  };
  const off = working.onChange(() => void look());
  void look();
  return {
    stop() {
      stopped.abort();
      off();
    },
  };
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
  if (typeof content === "string") return content;
  if (typeof content === "object" && content !== null && "message" in content && "code" in content)
    return String(content.message);
  return JSON.stringify(content);
}

function succeeded(result: AgentResult): boolean {
  if (result.status !== "completed") return false;
  const parsed = InvocationResult.safeParse(result.content);
  if (!parsed.success) return true;
  if (parsed.data.kind === "scalar") return parsed.data.result.status === "completed";
  return parsed.data.kind === "task_ids" || parsed.data.results.every((each) => each.status === "completed");
}
