// The routing policy of a project: `.tutti/policy.toon` as the person trusted it, or one made from the models that can be called.

import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { defaultPolicyFrom } from "../../core/default-policy-from.ts";
import { errno } from "../../core/errno.ts";
import { placed, readPolicyFile } from "../../protocol/routing/read-policy-file.ts";
import { isSharedFolder, strangerProblem } from "../../files/owned-path.ts";
import { thrownMessage, TuttiError } from "../../protocol/error.ts";
import { encodePolicy } from "../../protocol/routing/encode-policy.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import { keySources } from "../secrets/provider-keys.ts";
import { effectiveConfig } from "./effective-config.ts";
import { canonicalName } from "../../model/resolve-model.ts";
import { listModels } from "./project-models.ts";
import { openTrust, policyContent } from "./trusted-configs.ts";

export const policyPath = join(".tutti", "policy.toon");

const maxBytes = 1024 * 1024;

/** A policy file as it is on the disk. */
export interface PolicyFile {
  /** The folder of the project, without symbolic links. */
  readonly folder: string;
  readonly file: string;
  readonly text: string;
  /** SHA-256 of the text. */
  readonly hash: string;
}

export interface ProjectPolicy {
  readonly policy: Policy;
  /** `readPolicy` gives the policy back. */
  readonly text: string;
  /** SHA-256 of the text. */
  readonly hash: string;
  /** `default`: nobody wrote it, so whatever a person or an agent's definition says beats it. */
  readonly source: "project" | "default";
  /** The file of the policy; null for a default. */
  readonly file: string | null;
}

/** Undefined when the project has none. Throws `refused` when another user could change it. */
export function findPolicyFile(project: string): PolicyFile | undefined {
  const file = join(project, policyPath);
  if (!existsSync(file) || isSharedFolder(project)) return undefined;
  const folder = realpathSync(project);
  const own = join(folder, policyPath);
  for (const path of [folder, join(folder, ".tutti"), own]) {
    const problem = strangerProblem(path);
    if (problem !== undefined) throw new TuttiError("refused", `the policy is not used: ${problem}`);
  }
  try {
    const found = lstatSync(own);
    // What a link leads to may lie where agents can change it.
    if (!found.isFile()) throw new TuttiError("refused", `${own} is not used: it is no regular file`);
    if (found.size > maxBytes) throw new TuttiError("too_large", `${own} is larger than ${maxBytes} bytes`);
    const text = readFileSync(own, "utf8");
    return { folder, file: own, text, hash: hashOfPolicy(text) };
  } catch (thrown) {
    if (thrown instanceof TuttiError) throw thrown;
    throw new TuttiError("io", `could not read ${own}: ${thrownMessage(thrown)}`, { cause: thrown });
  }
}

export function isPolicyTrusted({ folder, hash }: PolicyFile, state: string): boolean {
  return openTrust(state).isTrusted(policyContent(folder, hash));
}

/**
 * The policy that a goal which starts now is to keep to its end. Throws `refused` for a policy file that nobody agreed to as
 * it is now, and `invalid_input` with the lines for one that cannot be used: a default in its place would be a surprise.
 */
export async function policyFor(project: string, state: string, decider?: string): Promise<ProjectPolicy> {
  const found = findPolicyFile(project);
  if (found === undefined) return defaultPolicyOf(project, state, decider);
  const { folder, file, text, hash } = found;
  if (!isPolicyTrusted(found, state)) {
    const why = openTrust(state).knowsPolicy(folder) ? "it has changed since you trusted it" : "it was never trusted";
    const message = `${file} is not used: ${why}; look at it and run \`tutti trust\` in the project`;
    throw new TuttiError("refused", message, { details: { file, hash } });
  }
  return { policy: usablePolicy(found), text, hash, source: "project", file };
}

/** Throws `invalid_input` with the first error and its line. */
function usablePolicy({ file, text }: Pick<PolicyFile, "file" | "text">): Policy {
  const { policy, problems } = readPolicyFile(text);
  if (policy !== undefined) return policy;
  const errors = problems.filter(({ level }) => level === "error").map((problem) => placed(file, problem));
  throw new TuttiError("invalid_input", errors.join("; "), { details: { file, problems: [...problems] } });
}

/**
 * The providers are not asked what they offer: a goal must not wait for a server that does not answer. `decider` is the model
 * that splits the goal.
 */
export async function defaultPolicyOf(project: string, state: string, decider?: string): Promise<ProjectPolicy> {
  const { models } = await effectiveConfig(project, state);
  const listed = await listModels(models, keySources(state), { probe: false });
  const policy = defaultPolicyFrom(listed, decider === undefined ? undefined : canonicalName(models, decider));
  const text = encodePolicy(policy);
  return { policy, text, hash: hashOfPolicy(text), source: "default", file: null };
}

/** Records that the policy may be used, if it is still the one that was shown (`conflict`) and can be used. */
export async function trustPolicy(project: string, state: string, hash: string): Promise<void> {
  const found = findPolicyFile(project);
  if (found === undefined) throw new TuttiError("not_found", `${project} has no policy; there is nothing to trust`);
  if (found.hash !== hash) throw new TuttiError("conflict", `${found.file} has just changed; look at it again`);
  usablePolicy(found);
  await openTrust(state).record(policyContent(found.folder, hash));
}

/** Whoever has Tutti write a policy agrees to it. Never overwrites a file (`conflict`). */
export async function writePolicyFile(wanted: {
  readonly project: string;
  readonly state: string;
  readonly text: string;
}): Promise<string> {
  const { project, state, text } = wanted;
  const file = join(project, policyPath);
  usablePolicy({ file, text });
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: "wx" });
  } catch (thrown) {
    if (errno(thrown) === "EEXIST") throw new TuttiError("conflict", `${file} exists already; it was not changed`);
    throw new TuttiError("io", `could not write ${file}: ${thrownMessage(thrown)}`, { cause: thrown });
  }
  await trustPolicy(project, state, hashOfPolicy(text));
  return file;
}

export function hashOfPolicy(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
