// `tutti agents show`: shows one agent, with everything in its definition.
import type { Host } from "../../host/host.ts";
import type { AgentView } from "../../protocol/api/catalog.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type AgentsOptions, loadAgents, problemLine } from "../project-agents.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { valueText } from "../terminal/value-text.ts";

export async function agentsShowCommand(host: Host, name: string, options: AgentsOptions): Promise<void> {
  const { agents, problems: all } = await loadAgents(host, options);
  const agent = agents.find((each) => each.name === name);
  if (agent === undefined) {
    const known = agents.map((each) => each.name).join(", ");
    throw new TuttiError("not_found", `there is no agent ${name}; there are: ${known === "" ? "none" : known}`);
  }
  const problems = all.filter((problem) => problem.file === agent.file);
  if (options.json === true) return writeJson({ ...agent, problems });
  for (const line of linesOf(agent)) await writeLine(line, { hang: 0 });
  for (const problem of problems) warn(problemLine(problem));
}

function linesOf({ name, file, of, definition }: AgentView): string[] {
  const { instructions, description, ...rest } = definition;
  const fields = Object.entries(rest).map(([field, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : valueText(value);
    return `${dim(field.padEnd(14))} ${text === "" ? "none" : text}`;
  });
  return [
    `${bold(name)} ${dim(`(${of}) ${printableName(file)}`)}`,
    ...(description === undefined ? [] : [description]),
    ...fields,
    "",
    instructions.trim(),
  ];
}
