// `tutti operators`: lists the operators that have joined.
import type { Host } from "../../host/host.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { paint } from "../terminal/style.ts";
import { withDaemon } from "../connect.ts";
import { writeTable } from "../terminal/table.ts";
import { duration } from "../terminal/units.ts";

export interface OperatorsOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function operatorsCommand(host: Host, options: OperatorsOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    const operators = await tutti.operators();
    if (options.json === true) return writeJson(operators);
    if (operators.length === 0) return writeLine("no operator has joined");
    const now = Date.now();
    await writeTable(
      operators.map(({ sid, roles, connected, pending, last_seen }) => ({
        mark: connected ? paint("green", "●") : paint("dim", "○"),
        cells: [
          sid,
          roles.join(", "),
          connected ? "connected" : `seen ${duration(now - last_seen)} ago`,
          pending === 0 ? "" : `${pending} waiting`,
        ],
      })),
    );
  });
}
