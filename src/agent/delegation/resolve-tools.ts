// Which tools a new task may use and which of them its agent is offered, never more than its caller may use.

import { mayUse, type Rights } from "../../core/rights.ts";
import type { AgentRef } from "../../protocol/invocation/invocation.ts";
import { mcpPrefix, serverInName } from "../../protocol/invocation/mcp-servers.ts";
import type { ToolPolicy, ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import { loopTool, toolSearchName } from "../tools/loop-tools.ts";
import { supervisorTools } from "../tools/supervise.ts";
import type { Caller } from "./invocation-caller.ts";
import type { FoundAgent } from "./find-agent.ts";
import type { OfferedTools } from "./task-input.ts";

export interface ToolAccess {
  /** What the task may use. */
  readonly rights: Rights;
  /** What its agent is shown. */
  readonly offeredTools: OfferedTools;
}

export type ToolResolution =
  | { readonly ok: true; readonly access: ToolAccess }
  | { readonly ok: false; readonly message: string };

type CallerTools = Pick<Caller, "file" | "environment" | "rights" | "offeredTools">;

/** The tools that come with the right to call agents. */
const delegationTools = [loopTool.invokeAgent, ...supervisorTools.map((tool) => tool.name)];

/**
 * `inherit` passes the caller's rights on; the agent is offered its own tools and the client's. `exact` means these tools
 * and no others. `none` leaves the agent its own built-in tools, which are all of them when it lists none. Whatever goes
 * beyond the caller's rights is refused.
 */
export function resolveTools(
  caller: CallerTools,
  target: { readonly ref: AgentRef; readonly agent: FoundAgent },
  policy: ToolPolicy,
): ToolResolution {
  const own = ownTools(caller, target);
  if (!own.ok) return own;
  const external = caller.file.external_tools.map((tool) => tool.name);
  const { rights } = caller;
  if (policy.kind === "exact") return allow(caller, policy.tools, { narrowRights: true });
  if (policy.kind === "none") {
    return allow(caller, without(own.tools ?? unlistedTools(caller, target), external), { narrowRights: true });
  }
  if (target.ref.type === "ad_hoc") {
    return allow(caller, own.tools ?? unlistedTools(caller, target), { narrowRights: true });
  }
  if (own.tools === undefined) return { ok: true, access: { rights, offeredTools: "*" } };
  return allow(caller, [...own.tools, ...external.filter((name) => mayUse(rights, name))], { narrowRights: false });
}

/**
 * The tools of an agent that lists none: everything its caller may pass on. Nobody has reviewed an ad-hoc agent, so it gets
 * only what its maker is offered, without the tools that call other agents.
 */
function unlistedTools(
  caller: CallerTools,
  { ref, agent }: { readonly ref: AgentRef; readonly agent: FoundAgent },
): string[] {
  const passed = (names: readonly string[]): string[] => names.filter((name) => mayUse(caller.rights, name));
  if (ref.type === "ad_hoc") {
    return without(passed(namesOf(caller, caller.offeredTools)), [...delegationTools, loopTool.handover]);
  }
  const handsOver = agent.definition.handover !== undefined;
  return without(passed(namesOf(caller, "*")), handsOver ? [] : [loopTool.handover]);
}

type OwnTools =
  | { readonly ok: true; readonly tools: readonly string[] | undefined }
  | { readonly ok: false; readonly message: string };

/** What the definition or the ad-hoc configuration lists; undefined when it lists nothing. */
function ownTools(
  caller: CallerTools,
  { ref, agent }: { readonly ref: AgentRef; readonly agent: FoundAgent },
): OwnTools {
  if (ref.type === "ad_hoc")
    return ref.tools === undefined ? { ok: true, tools: undefined } : adHocTools(caller, ref.tools);
  const { tools, handover } = agent.definition;
  if (tools === undefined) return { ok: true, tools: undefined };
  return { ok: true, tools: handover === undefined ? tools : [...tools, loopTool.handover] };
}

function adHocTools({ file, rights, environment }: CallerTools, config: ToolsConfig): OwnTools {
  if (config.dynamic.length > 0) {
    return {
      ok: false,
      message: "an ad-hoc agent cannot have dynamic tools here; list builtin, mcp and external ones",
    };
  }
  const allowed = file.external_tools.map((tool) => tool.name).filter((name) => mayUse(rights, name));
  const wanted = config.external ?? [];
  const problem = missingServer(
    environment,
    config.mcp.map(({ server }) => server),
  );
  if (problem !== undefined) return { ok: false, message: problem };
  const ofServers = config.mcp.flatMap((each) => toolsOfServer(environment, each));
  return { ok: true, tools: [...config.builtin, ...ofServers, ...(wanted.includes("*") ? allowed : wanted)] };
}

/** Those that a pattern of `include` names, all when there is none, without those that one of `exclude` names. */
function toolsOfServer(
  { tools }: Pick<CallerTools["environment"], "tools">,
  { server, include, exclude }: ToolsConfig["mcp"][number],
): string[] {
  const prefix = `${mcpPrefix}${server}__`;
  const fits = (patterns: readonly string[], name: string): boolean =>
    patterns.some((pattern) => matchesGlob(name.slice(prefix.length), pattern));
  return tools.flatMap(({ name, server: own }) => {
    if (own?.name !== server || own.onlyNamed) return [];
    return (include.length === 0 || fits(include, name)) && !fits(exclude, name) ? [name] : [];
  });
}

/** `*` stands for any characters. */
function matchesGlob(name: string, pattern: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const [index, part] of rest.entries()) {
    if (index === rest.length - 1) return name.length - at >= part.length && name.endsWith(part);
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}

/** What is said of a server that nobody has declared; undefined when there is none among the names, or it is not known what there is. */
function missingServer(
  { servers }: Pick<CallerTools["environment"], "servers">,
  names: readonly string[],
): string | undefined {
  const missing = servers === undefined ? [] : [...new Set(names)].filter((name) => !servers.includes(name));
  if (missing.length === 0) return undefined;
  const known = servers === undefined || servers.length === 0 ? "none" : servers.join(", ");
  return `there is no MCP server ${missing.join(", ")} that could be used; there are: ${known} (\`tutti mcp list\` says more)`;
}

/**
 * `mcp__server` and `mcp__server__*` mean all tools of a server. Tools of servers that a person declined, or that do not
 * answer, are left out.
 */
function withServers({ tools }: Pick<CallerTools["environment"], "tools">, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const server = serverInName(name);
    if (server === undefined) return [name];
    if (name !== `${mcpPrefix}${server}` && !name.endsWith("__*"))
      return tools.some((tool) => tool.name === name) ? [name] : [];
    return tools.flatMap((tool) => (tool.server?.name === server ? [tool.name] : []));
  });
}

/** With `narrowRights` the task may use these tools and no others; without it they are only what its agent is offered. */
function allow(
  caller: CallerTools,
  wanted: readonly string[],
  { narrowRights }: { readonly narrowRights: boolean },
): ToolResolution {
  const { rights } = caller;
  const problem = missingServer(
    caller.environment,
    wanted.flatMap((name) => serverInName(name) ?? []),
  );
  if (problem !== undefined) return { ok: false, message: problem };
  const expanded = withServers(caller.environment, wanted);
  const withSupervision = expanded.includes(loopTool.invokeAgent) ? [...expanded, ...delegationTools] : expanded;
  // Every agent has `final`, and `tool_search` when it needs it; they need no right.
  const names = [...new Set(withSupervision)].filter((name) => name !== loopTool.final && name !== toolSearchName);
  const known = namesOf(caller, "*");
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    return { ok: false, message: `there is no tool ${unknown.join(", ")}; there are: ${known.join(", ")}` };
  const beyond = names.filter((name) => !mayUse(rights, name));
  if (beyond.length > 0)
    return { ok: false, message: `the caller may not use ${beyond.join(", ")}, so it cannot pass that on` };
  return { ok: true, access: { rights: narrowRights ? { ...rights, tools: names } : rights, offeredTools: names } };
}

/** The names behind `*`, in the order models see the tools; `final` is not among them, since nobody can withhold it. */
function namesOf({ file, environment }: CallerTools, tools: OfferedTools): readonly string[] {
  if (tools !== "*") return tools;
  return [
    ...environment.tools.map((tool) => tool.name),
    loopTool.invokeAgent,
    loopTool.handover,
    ...file.external_tools.map((tool) => tool.name),
  ];
}

function without(names: readonly string[], dropped: readonly string[]): string[] {
  return names.filter((name) => !dropped.includes(name));
}
