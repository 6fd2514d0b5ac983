// `tutti agents check`: checks every definition, once or whenever a file changes.
import type { Host } from "../../host/host.ts";
import type { ProjectAgents } from "../../host/project.ts";
import { errorTable } from "../../protocol/error.ts";
import { type AgentsOptions, countErrors, loadAgents, problemLine } from "../project-agents.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { counted } from "../terminal/units.ts";

export interface AgentsCheckOptions extends AgentsOptions {
  readonly watch?: boolean;
}

export async function agentsCheckCommand(host: Host, options: AgentsCheckOptions): Promise<void> {
  if (options.watch === true) return checkOnChange(host, options);
  await report(await loadAgents(host, options), options);
}

async function checkOnChange(host: Host, options: AgentsCheckOptions): Promise<void> {
  const project = await host.openProject(givenFolder(options.cwd), { state: stateFolder(undefined) });
  // Reports are queued, so that their lines do not mix.
  let reported: Promise<void> = Promise.resolve();
  const onChange = (agents: ProjectAgents): void => {
    reported = reported.then(() => report(agents, options));
  };
  const watcher = await project.watchAgents(onChange);
  onChange(watcher.current);
  await new Promise<void>((resolve) => {
    process.once("SIGINT", resolve);
    process.once("SIGTERM", resolve);
  });
  watcher.close();
  await reported;
}

/** A definition with an error makes the exit status that of invalid input. */
async function report(loaded: ProjectAgents, { json }: AgentsCheckOptions): Promise<void> {
  const errors = countErrors(loaded);
  process.exitCode = errors > 0 ? errorTable.invalid_input.exit : 0;
  if (json === true) {
    return writeJson({ agents: loaded.agents.map(({ name }) => name), problems: loaded.problems });
  }
  for (const problem of loaded.problems) await writeLine(problemLine(problem));
  const warnings = loaded.problems.length - errors;
  const counts = [counted(loaded.agents.length, "agent"), counted(errors, "error"), counted(warnings, "warning")];
  await writeLine(dim(counts.join(", ")));
}
