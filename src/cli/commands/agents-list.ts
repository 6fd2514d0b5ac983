// `tutti agents list`: lists the agents of the project and of the user.
import type { Host } from "../../host/host.ts";
import { type AgentsOptions, countErrors, loadAgents } from "../project-agents.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { oneLine } from "../terminal/printable.ts";
import { counted } from "../terminal/units.ts";

const maxLength = 100;

export async function agentsListCommand(host: Host, options: AgentsOptions): Promise<void> {
  const loaded = await loadAgents(host, options);
  if (options.json === true) return writeJson(loaded);
  if (loaded.agents.length === 0) await writeLine("no agents yet; make one with `tutti agents new NAME`");
  const width = Math.max(0, ...loaded.agents.map((agent) => agent.name.length));
  for (const { name, of, definition } of loaded.agents) {
    const description = oneLine(definition.description ?? "", maxLength);
    const source = [of, ...(definition.model === undefined ? [] : [definition.model])].join(", ");
    const gap = description === "" ? "" : " ";
    await writeLine(`${bold(name.padEnd(width))}  ${description}${gap}${dim(`(${source})`)}`, { hang: width + 2 });
  }
  const errors = countErrors(loaded);
  if (errors > 0) warn(`${counted(errors, "mistake")} in definitions; see \`tutti agents check\``);
}
