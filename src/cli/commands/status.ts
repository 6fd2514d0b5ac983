// `tutti status`: shows whether a daemon runs, who works on the state, and how much work there is.
import type { Host } from "../../host/host.ts";
import type { ServiceStatus } from "../../protocol/api/service.ts";
import type { ModelWait } from "../../protocol/task/model-wait.ts";
import type { Observation } from "../../protocol/task/observation.ts";
import { waitingText } from "../../core/model-waiting.ts";
import { TuttiError } from "../../protocol/error.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { commandLine } from "../connect.ts";
import { stateFolder } from "../state-folder.ts";
import { listTasks } from "../list-tasks.ts";
import { counted, duration, money as dollars } from "../terminal/units.ts";

export interface StatusOptions {
  readonly state?: string;
  readonly json?: boolean;
}

type OpenWork = Pick<ServiceStatus, "tasks" | "asks" | "paused">;

export async function statusCommand(host: Host, options: StatusOptions): Promise<void> {
  const folder = stateFolder(options.state);
  const tutti = await host.connect(folder);
  if (tutti === undefined) return showNotRunning(host, folder, options);
  try {
    const status = await tutti.status();
    const command = (await host.findDaemon(folder))?.command === true;
    if (options.json === true) return await writeJson({ running: true, command, ...status });
    const { url, pid, version, started_at, operators, degraded, parked } = status;
    const since = duration(Date.now() - started_at);
    await writeLine(`${bold("running")} at ${bold(url ?? "")} ${dim(`(process ${pid}, ${version}, for ${since})`)}`);
    if (command) await writeRow("by", "a command, which serves others until its own work is done");
    await writeRow("state", status.state);
    await writeRow("work", workLine(status));
    await writeRow("operators", `${operators.joined} joined, ${operators.connected} connected`);
    if (status.day !== undefined) await writeRow("today", dayLine(status.day));
    await writeWaits(await tutti.sessions());
    if (degraded !== null) warn(`no new work is taken: ${degraded.message}`);
    for (const { task, runner, reason } of parked) {
      warn(`${task} cannot go on: ${reason ?? `this Tutti has no runner ${runner}`}`);
    }
  } finally {
    await tutti.close();
  }
}

/** One row for each model that somebody waits for. */
async function writeWaits(sessions: readonly Observation[]): Promise<void> {
  const waits = new Map<string, { readonly wait: ModelWait; readonly count: number }>();
  for (const { model_wait: wait } of sessions) {
    if (wait !== undefined) waits.set(wait.model, { wait, count: (waits.get(wait.model)?.count ?? 0) + 1 });
  }
  for (const { wait, count } of waits.values()) {
    const more = count === 1 ? "" : ` (${counted(count, "task")})`;
    await writeRow("model", `${waitingText(wait, Date.now())}${more}`);
  }
}

async function showNotRunning(host: Host, folder: string, options: StatusOptions): Promise<void> {
  const worker = await host.findOwner(folder);
  const work = await readOpenWork(host, folder);
  if (options.json === true) {
    const none = { tasks: null, asks: null, paused: null };
    return writeJson({ running: false, state: folder, worker: worker ?? null, ...(work ?? none) });
  }
  await writeLine(`${bold("not running")}; start it with \`${commandLine(options.state, "up")}\``);
  await writeRow("state", work === undefined ? `${folder}, nothing there yet` : folder);
  if (work !== undefined) await writeRow("work", unfinishedLine(work));
  if (worker !== undefined) await writeRow("by", `process ${worker.pid}, since ${worker.since}, not a daemon`);
}

/** Undefined when there is no state in the folder. */
async function readOpenWork(host: Host, folder: string): Promise<OpenWork | undefined> {
  try {
    const reader = host.openReader(folder);
    try {
      const count = async (status: keyof OpenWork["tasks"]): Promise<number> =>
        (await listTasks(reader, { limit: Infinity, all: true, status })).length;
      const tasks = {
        pending: await count("pending"),
        running: await count("running"),
        input_required: await count("input_required"),
      };
      return { tasks, asks: (await reader.asks()).length, paused: await reader.paused() };
    } finally {
      await reader.close();
    }
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

function workLine(work: OpenWork): string {
  const { pending, running, input_required } = work.tasks;
  return `${running} running, ${pending} pending, ${input_required} waiting for input${besides(work)}`;
}

/** While nobody works, no task runs, whatever its last event says. */
function unfinishedLine(work: OpenWork): string {
  const { pending, running, input_required } = work.tasks;
  return `${pending + running + input_required} unfinished${besides(work)}`;
}

function besides({ asks, paused }: OpenWork): string {
  const waiting = asks === 0 ? "" : `, ${counted(asks, "question")} open`;
  return `${waiting}${paused ? "; paused, nothing new begins until `tutti resume`" : ""}`;
}

async function writeRow(name: string, text: string): Promise<void> {
  await writeLine(`  ${dim(name.padEnd(9))} ${text}`, { hang: 10 });
}

/** `$1.20 of $5.00, 120,000 of 1,000,000 tokens`. */
function dayLine({ money_micro_usd: money, tokens, decision }: NonNullable<ServiceStatus["day"]>): string {
  const parts = [
    ...(money === null ? [] : [`${dollars(money.used)} of ${dollars(money.limit + money.raised)}`]),
    ...(tokens === null
      ? []
      : [`${tokens.used.toLocaleString("en-US")} of ${(tokens.limit + tokens.raised).toLocaleString("en-US")} tokens`]),
  ];
  const decided = { wait: "; new calls wait until 00:00 UTC", stop: "; calls past it are refused until 00:00 UTC" };
  return `${parts.join(", ")}${decision === null ? "" : decided[decision]}`;
}
