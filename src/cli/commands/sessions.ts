// `tutti sessions`: lists the sessions of tasks that are not over, with what each is doing.
import type { Host } from "../../host/host.ts";
import { withReader } from "../connect.ts";
import { activityMark } from "../terminal/observed-line.ts";
import { oneLine } from "../terminal/printable.ts";
import { note, writeJson, writeLine } from "../terminal/screen.ts";
import { writeTable } from "../terminal/table.ts";
import { duration } from "../terminal/units.ts";

export interface SessionsOptions {
  readonly state?: string;
  readonly json?: boolean;
}

const summaryLength = 60;

export async function sessionsCommand(host: Host, options: SessionsOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const sessions = await reader.sessions();
    if (options.json === true) {
      for (const session of sessions) await writeJson(session);
      return;
    }
    if (sessions.length === 0) await writeLine("no session is open");
    const now = Date.now();
    if (sessions.length > 0)
      await writeTable(
        sessions.map(({ task, agent, runner, activity, summary, last_event_at }) => ({
          mark: activityMark(activity),
          cells: [task, agent, runner, activity, duration(now - last_event_at), oneLine(summary, summaryLength)],
        })),
      );
    for (const { agent, failures } of await reader.heldAgents()) {
      const last = failures.at(-1)?.message ?? "";
      note(
        `${agent} failed ${failures.length} times in a row, so its next launch asks first: ${oneLine(last, summaryLength)}`,
      );
    }
  });
}
