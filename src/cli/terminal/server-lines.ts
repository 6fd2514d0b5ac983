// How MCP servers are shown: what they run or call, what they are given, and what they offer in their own words.
import type { ServersView } from "../../host/project.ts";
import { printable, printableName } from "./printable.ts";
import { writeLine } from "./screen.ts";
import { bold, dim } from "./style.ts";

const longestDescription = 160;

export async function showServers({ servers, problems }: ServersView): Promise<void> {
  for (const { name, from, hash, settings, invisible, state, tools } of servers) {
    await writeLine(`${bold(printableName(name))} ${dim(`${state}, from ${printableName(from)}`)}`);
    for (const line of settings) await writeLine(`  ${printable(line)}`);
    if (invisible) await writeLine("  BEWARE     characters that cannot be seen are written as escapes here");
    await writeLine(`  sha256     ${hash}`);
    for (const tool of tools ?? []) await writeLine(`  tool       ${toolLine(tool)}`);
  }
  for (const problem of problems) await writeLine(`not used: ${printable(problem)}`);
}

/** A description is text of the server's author: one line of it, and nothing that a terminal would obey. */
export function toolLine({ name, description }: { readonly name: string; readonly description: string }): string {
  const line = description.replaceAll(/\s+/g, " ").trim();
  const cut = line.length > longestDescription ? `${line.slice(0, longestDescription)}…` : line;
  return `${printableName(name)} ${dim(printable(cut))}`;
}
