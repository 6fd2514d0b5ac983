// The agents of a project for the commands that show them, and a line for each problem in their definitions.
import { relative } from "node:path";

import type { Host } from "../host/host.ts";
import type { ProjectAgents } from "../host/project.ts";
import type { AgentProblem } from "../protocol/api/catalog.ts";
import { givenFolder } from "./given-folder.ts";
import { printableName } from "./terminal/printable.ts";
import { paint } from "./terminal/style.ts";
import { stateFolder } from "./state-folder.ts";

export interface AgentsOptions {
  /** A folder in the project; the current one when absent. */
  readonly cwd?: string;
  readonly json?: boolean;
}

export async function loadAgents(host: Host, { cwd }: AgentsOptions): Promise<ProjectAgents> {
  if (host.remote !== undefined) return host.remote.catalog.agents(cwd);
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(undefined) });
  return project.agents();
}

export function countErrors({ problems }: ProjectAgents): number {
  return problems.filter(({ level }) => level === "error").length;
}

/** A file below the current folder is named relative to it. */
export function problemLine({ file, line, level, message }: AgentProblem): string {
  const near = relative(process.cwd(), file);
  const shown = near.startsWith("..") ? file : near;
  const mark = level === "error" ? paint("red", "error") : paint("yellow", "warning");
  return `${printableName(shown)}:${line}: ${mark}: ${message}`;
}
