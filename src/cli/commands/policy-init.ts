// `tutti policy init`: prints a routing policy for a project, made from the models that can be called, or writes it to its place.
import type { Host } from "../../host/host.ts";
import type { Project } from "../../host/project.ts";
import { initialPolicy } from "../../protocol/routing/default-policy.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import { policyText } from "../../core/policy-text.ts";
import { givenFolder } from "../given-folder.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { note, writeJson, writeLine, writeUnbroken } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";

export interface PolicyInitOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly model?: string;
  readonly write?: boolean;
  readonly json?: boolean;
}

export async function policyInitCommand(host: Host, options: PolicyInitOptions): Promise<void> {
  const { cwd, state, model, write, json } = options;
  const project = await host.openProject(givenFolder(cwd), { state: stateFolder(state) });
  const policy = model === undefined ? await madeFromModels(project) : initialPolicy(model);
  if (write === true) {
    const file = await project.writePolicy(policyText(policy));
    if (json === true) return writeJson({ file, policy });
    await writeLine(file);
    return note(dim("edit it, check it with `tutti policy check`, and agree to what you changed with `tutti trust`"));
  }
  await (json === true ? writeJson(policy) : writeUnbroken(policyText(policy).trimEnd()));
}

async function madeFromModels(project: Project): Promise<Policy> {
  const { problem } = await project.runners();
  if (problem !== undefined) warn(problem);
  return (await project.defaultPolicy()).policy;
}
