// `tutti policy init`: prints a routing policy for a new project, with a model that can run.
import type { Host } from "../../host/host.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";
import { encodePolicy } from "../../protocol/routing/encode-policy.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeUnbroken } from "../terminal/screen.ts";

export interface PolicyInitOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly model?: string;
  readonly json?: boolean;
}

export async function policyInitCommand(host: Host, options: PolicyInitOptions): Promise<void> {
  const policy = initialPolicy(options.model ?? (await defaultModel(host, options)));
  await (options.json === true ? writeJson(policy) : writeUnbroken(encodePolicy(policy).trimEnd()));
}

async function defaultModel(host: Host, { cwd, state }: PolicyInitOptions): Promise<string | undefined> {
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  const { models, problem } = await project.models({ probe: false });
  if (problem !== undefined) warn(problem);
  return models.find((model) => model.default)?.model;
}
