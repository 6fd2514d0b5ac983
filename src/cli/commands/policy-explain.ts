// `tutti policy explain`: says which model a task or a handoff goes to and why, and shows who has which role.
import { meaningOf, routeTask } from "../../core/explain-policy.ts";
import { policyRoles } from "../../protocol/routing/policy-places.ts";
import type { Host } from "../../host/host.ts";
import type { PolicyCheck, Project } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { readHandoff } from "../../protocol/routing/read-handoff.ts";
import type { Policy } from "../../protocol/routing/policy.ts";
import { route, type Route, type RouteDecision } from "../../protocol/routing/route-handoff.ts";
import { givenFolder } from "../given-folder.ts";
import { readText } from "../input.ts";
import { stateFolder } from "../state-folder.ts";
import { warn } from "../terminal/output.ts";
import { printableName } from "../terminal/printable.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim, paint } from "../terminal/style.ts";

export interface PolicyExplainOptions {
  readonly cwd?: string;
  readonly state?: string;
  readonly policy?: string;
  readonly handoff?: string;
  readonly kind?: string;
  readonly json?: boolean;
  readonly limit: number;
}

export async function policyExplainCommand(
  host: Host,
  words: readonly string[],
  options: PolicyExplainOptions,
): Promise<void> {
  const project = await host.openProject(givenFolder(options.cwd), { state: stateFolder(options.state) });
  const { check, policy, name } = await policyOf(project, options);
  const routed = await routeOf(policy, words.join(" "), options);
  if (routed?.ok === false)
    throw new TuttiError("invalid_input", routed.error.message, { details: { ...routed.error } });
  const decision = routed?.value;
  const roles = check.models.filter(({ where }) => where.startsWith("policy."));
  const others = check.models.filter(({ where }) => !where.startsWith("policy."));
  if (options.json === true) {
    const { conf_threshold } = policy.policy;
    return writeJson({
      decision: decision ?? null,
      policy: check.file,
      roles,
      others,
      conf_threshold,
      review: policy.review,
    });
  }
  if (decision !== undefined) await showDecision(decision, policy);
  await writeLine(dim(`by ${name}:`));
  const width = Math.max(...policyRoles.map((role) => role.length));
  for (const { where, model, ok, said } of [...roles, ...others]) {
    const role = where.replace(/^policy\./, "");
    const runs = ok ? "" : ` ${paint("red", `cannot run here: ${said}`)}`;
    await writeLine(`  ${dim(role.padEnd(width))}  ${printableName(model)}${runs}`, { hang: width + 4 });
  }
  const { conf_threshold } = policy.policy;
  await writeLine(
    `  ${dim("review".padEnd(width))}  ${policy.review}; a confidence below ${Math.max(conf_threshold, policy.gate.fail_if_conf_less)} escalates`,
  );
}

async function showDecision(
  { model, reason, matched_by, words, fallback_models }: RouteDecision,
  policy: Policy,
): Promise<void> {
  const roles = policyRoles.filter((role) => policy.policy[role] === model);
  const line = (name: string, value: string): Promise<void> =>
    writeLine(`${dim(name.padEnd(10))}  ${value}`, { hang: 12 });
  await line("model", `${bold(printableName(model))}${roles.length === 0 ? "" : dim(` (${roles.join(", ")})`)}`);
  await line("reason", printableName(reason));
  await line("because", meaningOf(matched_by));
  await line("words", words.length === 0 ? "none" : words.map(printableName).join(", "));
  if (fallback_models !== undefined)
    await line("then", fallback_models.map(printableName).join(", ") || "no other model");
}

interface Chosen {
  readonly check: PolicyCheck;
  readonly policy: Policy;
  /** How the policy is called in the output. */
  readonly name: string;
}

async function policyOf(project: Project, { policy: file, limit }: PolicyExplainOptions): Promise<Chosen> {
  const check = await project.checkPolicy(file === undefined ? undefined : { file, text: await readText(file, limit) });
  if (check.problem !== undefined) warn(check.problem);
  if (check.policy === undefined) {
    const [first] = check.problems;
    throw new TuttiError(
      "invalid_input",
      `${check.file ?? "the policy"}: ${first?.message ?? "it cannot be used"}; see \`tutti policy check\``,
    );
  }
  return {
    check,
    policy: check.policy,
    name: check.file === null ? "the policy made from your models" : printableName(check.file),
  };
}

/** Undefined when there is neither a task nor a handoff. */
async function routeOf(
  policy: Policy,
  task: string,
  { handoff, kind, limit }: PolicyExplainOptions,
): Promise<Route | undefined> {
  if (handoff === undefined) return task.trim() === "" ? undefined : routeTask(policy, { task, kind });
  if (task !== "" || kind !== undefined)
    throw new TuttiError("usage", "give the text of a task or --handoff, not both");
  const read = readHandoff(await readText(handoff, limit));
  for (const warning of read.warnings) warn(`${handoff}: ${warning}`);
  if (!read.ok) throw read.error;
  return route(policy, read.value);
}
