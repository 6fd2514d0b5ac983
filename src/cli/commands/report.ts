// `tutti report`: writes the report of a goal as Markdown, to standard output or to a file.
import { writeFile } from "node:fs/promises";

import type { Host } from "../../host/host.ts";
import { reportMarkdown } from "../../core/render-report.ts";
import { TuttiError } from "../../protocol/error.ts";
import { withReader } from "../connect.ts";
import { findGoal } from "../find-id.ts";
import { markdownLines } from "../terminal/markdown.ts";
import { note, standardOutput, writeJson, writeUnbroken } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface ReportOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly output?: string;
}

/** Reading needs no lock, so the report can be had while the goal is under way. */
export async function reportCommand(host: Host, given: string, options: ReportOptions): Promise<void> {
  await withReader(host, options, async (reader) => {
    const report = await reader.goalReport(await findGoal(reader, given));
    const text = options.json === true ? `${JSON.stringify(report, null, 2)}\n` : reportMarkdown(report);
    if (options.output !== undefined) return writeTo(options.output, text);
    if (options.json === true) return writeJson(report);
    const { isTerminal, columns } = standardOutput;
    const shown = text.trimEnd();
    await writeUnbroken(isTerminal ? markdownLines(shown, { width: columns, indent: 0 }).join("\n") : shown);
  });
}

async function writeTo(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("io", `the report could not be written to ${file}: ${reason}`, { cause: thrown });
  }
  note(dim(`wrote ${file}`));
}
