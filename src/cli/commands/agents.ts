// `tutti agents list`, `show`, `check` and `new`: the agents of the project and of the user.
import { relative } from "node:path";

import type { Host } from "../../host/host.ts";
import type { ProjectAgents } from "../../host/project.ts";
import type { AgentProblem, AgentView } from "../../protocol/api/catalog.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import { bold, dim, paint, warn, writeLine } from "../terminal/output.ts";
import { oneLine, printable } from "../terminal/printable.ts";

export interface AgentsOptions {
  readonly cwd?: string;
  readonly json?: boolean;
  readonly watch?: boolean;
  readonly user?: boolean;
}

const longest = 100;

export async function listAgents(host: Host, options: AgentsOptions): Promise<void> {
  const loaded = await agentsOf(host, options);
  if (options.json === true) return writeLine(JSON.stringify(loaded));
  if (loaded.agents.length === 0) await writeLine("no agents yet; make one with `tutti agents new NAME`");
  const width = Math.max(0, ...loaded.agents.map((agent) => agent.name.length));
  for (const { name, of, definition } of loaded.agents) {
    const about = oneLine(definition.description ?? "", longest);
    const from = [of, ...(definition.model === undefined ? [] : [definition.model])].join(", ");
    await writeLine(`${bold(name.padEnd(width))}  ${about}${about === "" ? "" : " "}${dim(`(${printable(from)})`)}`);
  }
  const errors = loaded.problems.filter((problem) => problem.level === "error").length;
  if (errors > 0) warn(`${errors} ${errors === 1 ? "mistake" : "mistakes"} in definitions; see \`tutti agents check\``);
}

export async function showAgent(host: Host, name: string, options: AgentsOptions): Promise<void> {
  const loaded = await agentsOf(host, options);
  const agent = loaded.agents.find((each) => each.name === name);
  if (agent === undefined) throw notThere(loaded, name);
  const problems = loaded.problems.filter((problem) => problem.file === agent.file);
  if (options.json === true) return writeLine(JSON.stringify({ ...agent, problems }));
  for (const line of described(agent)) await writeLine(line);
  for (const problem of problems) warn(problemLine(problem));
}

/** One line per problem; a mistake ends it with the status of invalid input. */
export async function checkAgents(host: Host, options: AgentsOptions): Promise<void> {
  if (options.watch === true) return watchAgents(host, options);
  await report(await agentsOf(host, options), options);
}

async function watchAgents(host: Host, options: AgentsOptions): Promise<void> {
  const project = await host.project(options.cwd ?? process.cwd());
  let shown: Promise<void> = Promise.resolve();
  const show = (loaded: ProjectAgents): void => {
    shown = shown.then(() => report(loaded, options));
  };
  const watched = await project.watchAgents(show);
  show(watched.current);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  watched.close();
  await shown;
}

async function report(loaded: ProjectAgents, { json }: AgentsOptions): Promise<void> {
  const errors = loaded.problems.filter((problem) => problem.level === "error").length;
  process.exitCode = errors > 0 ? errorTable.invalid_input.exit : 0;
  if (json === true) {
    return writeLine(JSON.stringify({ agents: loaded.agents.map(({ name }) => name), problems: loaded.problems }));
  }
  for (const problem of loaded.problems) await writeLine(problemLine(problem));
  const warnings = loaded.problems.length - errors;
  const count = (many: number, what: string): string => `${many} ${what}${many === 1 ? "" : "s"}`;
  await writeLine(
    dim(`${count(loaded.agents.length, "agent")}, ${count(errors, "error")}, ${count(warnings, "warning")}`),
  );
}

export async function newAgent(host: Host, name: string, options: AgentsOptions): Promise<void> {
  const project = await host.project(options.cwd ?? process.cwd());
  const file = await project.newAgent(name, { user: options.user === true });
  await writeLine(
    options.json === true
      ? JSON.stringify({ file })
      : `${file}\n${dim(`edit it, then \`tutti agents check\` and \`tutti agents run ${name} "…"\``)}`,
  );
}

async function agentsOf(host: Host, { cwd }: AgentsOptions): Promise<ProjectAgents> {
  const project = await host.project(cwd ?? process.cwd());
  return project.agents();
}

function notThere({ agents }: ProjectAgents, name: string): TuttiError {
  const known = agents.map((agent) => agent.name).join(", ");
  return new TuttiError("not_found", `there is no agent ${name}; there are: ${known === "" ? "none" : known}`);
}

function problemLine({ file, line, level, message }: AgentProblem): string {
  const near = relative(process.cwd(), file);
  const shown = near.startsWith("..") ? file : near;
  const mark = level === "error" ? paint("red", "error") : paint("yellow", "warning");
  return `${printable(shown)}:${line}: ${mark}: ${printable(message)}`;
}

function described({ name, file, of, definition }: AgentView): string[] {
  const { instructions, description, ...rest } = definition;
  const fields = Object.entries(rest).map(([field, value]) => {
    const text = Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
    return `${dim(field.padEnd(14))} ${printable(text === "" ? "none" : text)}`;
  });
  return [
    `${bold(name)} ${dim(`(${of}) ${file}`)}`,
    ...(description === undefined ? [] : [printable(description)]),
    ...fields,
    "",
    printable(instructions).trim(),
  ];
}
