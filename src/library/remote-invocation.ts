// Writes the invocation of a run in a daemon: the definitions of the program, and what of them its own processes have to do.

import { rehearsalModelName } from "../core/rehearsal-name.ts";
import { isModelObject } from "../model/model-object.ts";
import type { ApprovalRules } from "../protocol/invocation/approval-policy.ts";
import type { AgentDefinition } from "../protocol/invocation/invocation-file.ts";
import type { Invocation } from "../protocol/invocation/invocation.ts";
import type { RehearsalScript } from "../protocol/invocation/rehearsal-script.ts";
import { attendedKind, programKind } from "../protocol/invocation/runner-kinds.ts";
import { defaultBudget } from "../protocol/task/budget.ts";
import { attendedModels, type AttendedProgram } from "./attended-program.ts";
import type { CodeTool } from "./code-tool.ts";
import { type CompiledProgram, strictestRule } from "./compile-program.ts";
import { timeLimitOf } from "./run-attended-tool.ts";
import type { StartSettings } from "./run-source.ts";

export async function invocationFile(program: AttendedProgram, invocation: Invocation, settings: StartSettings) {
  const { compiled } = program;
  const { budget, roots = [], thread } = settings;
  const scripts = scriptsIn(compiled);
  const rules = Object.entries(compiled.agents).flatMap(([agent, { model = "" }]) =>
    (scripts.get(model)?.rules ?? []).map((rule): RehearsalScript["rules"][number] => ({ agent, ...rule })),
  );
  const models = await attendedModels(program);
  return {
    ...(thread === undefined ? {} : { thread }),
    invocation,
    agents: Object.fromEntries(
      Object.entries(compiled.agents).map(([name, each]) => [name, sentDefinition(each, compiled, scripts)]),
    ),
    ...(scripts.size === 0 ? {} : { script: { rules } }),
    external_tools: compiled.tools.map(({ name, declaration }) => ({
      ...declaration,
      ...attendedTool(compiled.codeTools.get(name)),
    })),
    ...(models === undefined ? {} : { attended_models: models }),
    ...sentApprovals(compiled),
    roots,
    budget: { tasks: Math.max(defaultBudget.tasks, invocation.targets.length + 1), ...budget },
  };
}

function scriptsIn({ models }: CompiledProgram): ReadonlyMap<string, RehearsalScript> {
  return new Map([...models].flatMap(([name, model]) => (isModelObject(model) ? [] : [[name, model]])));
}

function attendedTool(tool: CodeTool | undefined) {
  if (tool === undefined) return {};
  const { effects, repeatable } = tool;
  return { attended: { effects: [...effects], repeatable, timeout_ms: timeLimitOf(tool) } };
}

function sentDefinition(
  { model, runner, approvals, ...definition }: AgentDefinition,
  { codeTools }: CompiledProgram,
  scripts: ReadonlyMap<string, RehearsalScript>,
) {
  return {
    ...definition,
    ...(model === undefined ? {} : { model: scripts.has(model) ? rehearsalModelName : model }),
    ...(runner === undefined
      ? {}
      : { runner: runner.kind === programKind ? { ...runner, kind: attendedKind } : runner }),
    ...(approvals === undefined ? {} : { approvals: withToolRules(approvals, codeTools.values()) }),
  };
}

/** The daemon judges calls of the program's tools by rules for the tool alone, so rules for effects are written as such. */
function withToolRules(rules: ApprovalRules, tools: Iterable<CodeTool>): ApprovalRules {
  const byTool = Object.fromEntries([...tools].map((tool) => [tool.name, strictestRule(rules, tool.effects)]));
  return { ...rules, tools: { ...byTool, ...rules.tools } };
}

/** Calls that change protected files are always asked about, whatever the rules say. */
function sentApprovals({ approvals, codeTools }: CompiledProgram): { readonly approvals?: ApprovalRules } {
  const tools = Object.fromEntries(
    Object.entries(approvals.tools ?? {}).map(([name, rule]) => {
      const asks = rule === "free" && codeTools.get(name)?.effects.includes("protected") === true;
      return [name, asks ? "ask" : rule];
    }),
  );
  const isNothing = Object.keys(approvals).length === 1 && Object.values(tools).every((rule) => rule === "free");
  return isNothing ? {} : { approvals: { ...approvals, tools } };
}
