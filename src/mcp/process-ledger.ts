// Notes on disk about the processes of servers, so that the next start ends those that a crash left behind.

import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { replacePrivateFile } from "../files/private-file.ts";
import { readOptionalFile } from "../files/read-optional-file.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import { endProcesses, ProcessNote } from "../runner/shared/process/end-processes.ts";
import { processTable } from "../runner/shared/process/process-table.ts";

const Owner = z.object({ pid: z.int(), start: z.string() });
const Noted = z.object({ process: ProcessNote, owner: Owner });

const folderOf = (state: string): string => join(state, "mcp-processes");

/** On disk when this resolves. Returns what forgets the note. */
export async function noteProcess(state: string, process: ProcessNote): Promise<() => void> {
  const owner = { pid: globalThis.process.pid, start: (await processTable.start(globalThis.process.pid)) ?? "" };
  mkdirSync(folderOf(state), { recursive: true, mode: 0o700 });
  const path = join(folderOf(state), `${randomUUID()}.json`);
  replacePrivateFile(path, JSON.stringify({ process, owner }));
  return () => rmSync(path, { force: true });
}

/** Ends the processes whose owner is gone. A command that runs at this moment keeps its own. */
export async function endLeftServers(state: string): Promise<void> {
  const names = readNames(folderOf(state));
  await Promise.all(
    names.map(async (name) => {
      const path = join(folderOf(state), name);
      const noted = Noted.safeParse(parseJson(readOptionalFile(path) ?? ""));
      if (noted.success) {
        const { process, owner } = noted.data;
        if ((await processTable.start(owner.pid)) === owner.start) return;
        await endProcesses(process, { graceMs: 0 });
      } else if (!name.endsWith(".json")) {
        // Somebody may be writing it.
        return;
      }
      rmSync(path, { force: true });
    }),
  );
}

/** Also of notes that a crash kept from getting their name. */
function readNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
