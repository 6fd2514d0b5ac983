// `tutti observe`: tells what the session of a task is doing, from what was seen of it.
import type { Host } from "../../host/host.ts";
import { withReader } from "../connect.ts";
import { findTask } from "../find-id.ts";
import { eventLine } from "../terminal/event-line.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { observedLine } from "../terminal/observed-line.ts";

export interface ObserveOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly recent?: number;
}

export async function observeCommand(host: Host, given: string, options: ObserveOptions): Promise<void> {
  const { json, recent = 10 } = options;
  await withReader(host, options, async (reader) => {
    const seen = await reader.observe(await findTask(reader, given), { recent });
    if (json === true) return writeJson(seen);
    await writeLine(observedLine(seen, Date.now()));
    for (const event of seen.recent) await writeLine(`  ${eventLine(event)}`);
  });
}
