// What the commands that end or hold work do: the table in their help, and what each says before it begins.
import type { Reader } from "../client/client.ts";
import { isTerminal } from "../protocol/task/task-status.ts";
import type { TaskId } from "../protocol/ids.ts";
import { note } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";
import { counted } from "./terminal/units.ts";

/** As in docs/command-line.md. */
export const endingsTable = `What ends or holds work:
  stop TASK    ends its attempt; \`tutti resume TASK\` goes on from there
  cancel TASK  ends it and all below it for good; the workspaces stay
  kill TASK    ends them at once and removes their workspaces; work that is not
               committed is saved first
  pause        begins nothing new, in all tasks, until \`tutti resume\`
  down         stops the daemon; unfinished tasks go on at its next start
  Ctrl-C       leaves a command; what a daemon does goes on`;

/** Nothing is said of a task that is over. */
export async function tellBeforeEnd(
  reader: Pick<Reader, "tree">,
  task: TaskId,
  { verb, what, json }: { readonly verb: string; readonly what: string; readonly json: boolean | undefined },
): Promise<void> {
  if (json === true) return;
  const open = (await reader.tree(task)).filter(({ status }) => !isTerminal(status));
  const [top] = open;
  if (top === undefined) return;
  const below = open.length - 1;
  const named = top.id === task ? `${task} (${top.agent})` : task;
  const more =
    top.id !== task
      ? ` with ${counted(open.length, "open task")}`
      : below === 0
        ? ""
        : ` and ${counted(below, "task")} below it`;
  note(dim(`${verb} ${named}${more}: ${what}`));
}

const most = 200;

/** For what concerns all tasks. */
export async function unfinishedText(reader: Pick<Reader, "tasks">): Promise<string> {
  let count = 0;
  for (const status of ["pending", "running", "input_required"] as const) {
    count += (await reader.tasks({ status, roots: false, limit: most })).tasks.length;
  }
  return count >= most ? `${most} unfinished tasks or more` : counted(count, "unfinished task");
}
