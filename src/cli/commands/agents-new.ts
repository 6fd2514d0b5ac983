// `tutti agents new`: writes a definition to start from.
import type { Host } from "../../host/host.ts";
import type { AgentsOptions } from "../project-agents.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface AgentsNewOptions extends AgentsOptions {
  readonly user?: boolean;
}

export async function agentsNewCommand(host: Host, name: string, options: AgentsNewOptions): Promise<void> {
  const project = await host.openProject(givenFolder(options.cwd), { state: stateFolder(undefined) });
  const file = await project.newAgent(name, { user: options.user === true });
  const next = `edit it, then run \`tutti agents check\` and \`tutti agents run ${name} "…"\``;
  await (options.json === true ? writeJson({ file }) : writeLine(`${file}\n${dim(next)}`));
}
