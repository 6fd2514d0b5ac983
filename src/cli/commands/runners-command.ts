// `tutti runners`: lists the kinds of runner that a task can have in a project.
import type { Host } from "../../host/host.ts";
import type { RunnerView } from "../../protocol/api/catalog.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface RunnersOptions {
  readonly cwd?: string;
  readonly json?: boolean;
  readonly state?: string;
}

export async function runnersCommand(host: Host, options: RunnersOptions): Promise<void> {
  const { runners, problem } = await readRunners(host, options);
  if (problem !== undefined) warn(problem);
  if (options.json === true) return writeJson(runners);
  const width = Math.max(...runners.map(({ kind }) => kind.length));
  for (const { kind, runtime, description, of } of runners) {
    const notes = [
      ...(runtime === kind ? [] : [`runtime ${runtime}`]),
      ...(of === "project" ? ["of the project"] : []),
    ];
    const note = notes.length === 0 ? "" : ` ${dim(`(${notes.join(", ")})`)}`;
    await writeLine(`${kind.padEnd(width)}  ${description}${note}`, { hang: width + 2 });
  }
}

interface Runners {
  readonly runners: readonly RunnerView[];
  /** Why the config of the project was not used. */
  readonly problem?: string | undefined;
}

async function readRunners(host: Host, { cwd, state }: RunnersOptions): Promise<Runners> {
  if (host.remote !== undefined) return { runners: await host.remote.catalog.runners(cwd) };
  return (await host.openProject(givenFolder(cwd), { state: stateFolder(state) })).runners();
}
