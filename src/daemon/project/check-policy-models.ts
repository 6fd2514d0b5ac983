// Says of every model that a routing policy names whether it can run here, and if not, why.

import { lineOfField, modelsNamedIn } from "../../protocol/routing/policy-places.ts";
import { isRehearsalName } from "../../core/rehearsal-name.ts";
import { readPolicyFile } from "../../protocol/routing/read-policy-file.ts";
import type { PolicyCheck, PolicyModelCheck } from "../../host/project.ts";
import { requireKey, resolveModel } from "../../model/resolve-model.ts";
import { toTuttiError } from "../../protocol/error.ts";
import { parseRunnerRef } from "../../protocol/invocation/runner-ref.ts";
import { builtinRunners } from "../../protocol/invocation/runner-kinds.ts";
import { parseModelRef } from "../../protocol/routing/model-ref.ts";
import { agentProgram } from "../../runner/acp/session-launch.ts";
import { profileOf } from "../../runner/acp/profile.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { type EffectiveConfig, effectiveConfig } from "./effective-config.ts";

type Verdict = Pick<PolicyModelCheck, "ok" | "said">;

export interface PolicyText {
  /** Null for a policy that is made from the models here. */
  readonly file: string | null;
  readonly text: string;
}

export async function checkPolicyModels(
  { file, text }: PolicyText,
  { project, state }: { readonly project: string; readonly state: string },
): Promise<PolicyCheck> {
  const { policy, problems } = readPolicyFile(text);
  const config = await effectiveConfig(project, state);
  const known = new Map<string, Promise<Verdict>>();
  const verdictOf = (model: string): Promise<Verdict> => {
    const verdict = known.get(model) ?? canRun(model, config, state);
    known.set(model, verdict);
    return verdict;
  };
  const named = policy === undefined ? [] : modelsNamedIn(policy);
  const models = await Promise.all(
    named.map(async ({ where, model }): Promise<PolicyModelCheck> => {
      const line = file === null ? undefined : lineOfField(text, where, model);
      const { ok, said } = await verdictOf(model);
      const left =
        line === undefined && file !== null ? "; the policy leaves this field out, so a built-in name counts" : "";
      return { where, line: line ?? null, model, ok, said: ok ? said : `${said}${left}` };
    }),
  );
  const ok = policy !== undefined && models.every((model) => model.ok);
  return { ok, file, policy, problems, models, problem: config.problem };
}

async function canRun(ref: string, config: EffectiveConfig, state: string): Promise<Verdict> {
  const registered = config.runners.filter(({ of }) => of === "project").map(({ kind }) => kind);
  const { runner = "local", model } = parseModelRef(ref.trim(), registered);
  try {
    if (runner === "local") return { ok: true, said: modelHere(model, config, state) };
    if (runner === "acp") return { ok: true, said: await agentHere(ref, config) };
  } catch (thrown) {
    return { ok: false, said: toTuttiError(thrown).message };
  }
  if (runner === "operator") return { ok: true, said: `it goes to the operator ${model} when one is connected` };
  if (registered.includes(runner)) return { ok: true, said: `the config registers the runner ${runner}` };
  const exists = builtinRunners.some(({ kind }) => kind === runner);
  const said = exists ? `the runner ${runner} runs programs, not tasks of a model` : `there is no runner ${runner} yet`;
  return { ok: false, said };
}

function modelHere(model: string, { models: config }: EffectiveConfig, state: string): string {
  if (isRehearsalName(model)) return "the rehearsal needs no key";
  const { provider } = resolveModel({ config, ...keySources(state) }, model);
  requireKey(provider);
  const { name, keyFrom, baseUrl } = provider;
  if (keyFrom === undefined) return `${name} needs no key; its server is at ${baseUrl}`;
  return keyFrom.from === "login"
    ? `${name} has a key from \`tutti models login\``
    : `${name} has a key in ${keyFrom.variable}`;
}

async function agentHere(ref: string, { profiles }: EffectiveConfig): Promise<string> {
  const { profile }: { profile?: unknown } = Object(parseRunnerRef(ref).config);
  const name = String(profile);
  return `the coding agent ${name} is installed: ${await agentProgram(name, profileOf(profiles, name), "/")}`;
}
