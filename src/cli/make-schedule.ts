// Makes a schedule at the daemon, which is started if none runs, and says when it begins.
import { parseCron } from "../core/cron.ts";
import type { Host } from "../host/host.ts";
import type { NewSchedule } from "../protocol/api/schedule-shapes.ts";
import { commandLine, withDaemon } from "./connect.ts";
import { localTime } from "./terminal/units.ts";
import { note, writeJson, writeLine } from "./terminal/screen.ts";
import { dim } from "./terminal/style.ts";

export async function makeSchedule(
  host: Host,
  schedule: NewSchedule,
  options: { readonly state?: string; readonly json?: boolean },
): Promise<void> {
  // Before a daemon is started for it.
  parseCron(schedule.cron);
  await withDaemon(host, options, async (tutti) => {
    const made = await tutti.addSchedule(schedule);
    if (options.json === true) return writeJson(made);
    await writeLine(
      `${made.id} ${made.existed ? "is scheduled already" : "is scheduled"}; the next time is ${localTime(made.next_at)}`,
    );
    note(
      dim(
        `it starts while a daemon runs; \`${commandLine(options.state, "schedules")}\` lists it, \`${commandLine(options.state, `schedules remove ${made.id}`)}\` ends it`,
      ),
    );
  });
}
