// `tutti prune`: removes finished trees by age or until the state is small enough.
import type { Host } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { writeLine } from "../terminal/output.ts";
import { commandLine } from "../connect.ts";
import { stateFolder } from "../state-folder.ts";

export interface PruneOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly older?: string;
  readonly maxSize?: string;
}

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const sizes: Readonly<Record<string, number>> = { "": 1, k: 1_024, m: 1_048_576, g: 1_073_741_824 };

export async function pruneCommand(host: Host, options: PruneOptions): Promise<void> {
  if (options.older === undefined && options.maxSize === undefined) {
    throw new TuttiError("usage", "say what may go: --older 30d, --max-size 500M, or both");
  }
  const folder = stateFolder(options.state);
  // A folder that is not there, or holds something else, is said to be so before a lock is looked for in it.
  await host.look(folder).close();
  const daemon = await host.find(folder);
  if (daemon !== undefined) {
    const stop = `stop it with \`${commandLine(options.state, "down")}\`, prune, and start it again`;
    throw new TuttiError("locked", `the daemon at ${daemon.url} works on ${folder}; ${stop}`);
  }
  const pruned = host.prune(folder, {
    ...(options.older === undefined ? {} : { endedBefore: Date.now() - ageIn(options.older) }),
    ...(options.maxSize === undefined ? {} : { maxBytes: bytesIn(options.maxSize) }),
  });
  const { trees, tasks, bytes_before, bytes_after } = pruned;
  await writeLine(
    options.json === true
      ? JSON.stringify(pruned)
      : `removed ${counted(trees, "finished tree")} (${counted(tasks, "task")}); the state was ${bytes_before} bytes and is ${bytes_after}`,
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function ageIn(text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*([smhdw])$/.exec(text.trim().toLowerCase());
  if (found === null)
    throw new TuttiError("usage", `${text} is no age; write a number and s, m, h, d or w, such as 30d`);
  return Number(found[1]) * (units[found[2] ?? ""] ?? 0);
}

function bytesIn(text: string): number {
  const found = /^(\d+(?:\.\d+)?)\s*([kmg]?)i?b?$/.exec(text.trim().toLowerCase());
  if (found === null) throw new TuttiError("usage", `${text} is no size; write a number and k, M or G, such as 500M`);
  return Number(found[1]) * (sizes[found[2] ?? ""] ?? 0);
}
