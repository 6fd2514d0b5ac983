// Which tools a new task gets: the right to them, narrowed by the caller's policy, and which of them its agent is offered.

import { mayUse, type Rights } from "../../core/rights.ts";
import type { InvocationFile } from "../../protocol/invocation/invocation-file.ts";
import type { AgentRef } from "../../protocol/invocation/invocation.ts";
import type { ToolPolicy, ToolsConfig } from "../../protocol/invocation/tool-policy.ts";
import type { FoundAgent } from "./find-agent.ts";
import type { AgentEnvironment } from "../agent-environment.ts";
import type { Offer } from "./task-input.ts";
import { supervisorTools } from "../tools/supervise.ts";

export interface Grant {
  readonly rights: Rights;
  readonly offer: Offer;
}

export type Granting = { readonly ok: true; readonly grant: Grant } | { readonly ok: false; readonly message: string };

/** Who asks: what it has a right to, and what it is offered itself. */
export interface Granter {
  readonly file: InvocationFile;
  readonly environment: AgentEnvironment;
  readonly rights: Rights;
  readonly offer: Offer;
}

/** Tools of the loop itself: calling and handing over to other agents. `final` needs no right. */
const delegation = ["invoke_agent", ...supervisorTools.map((tool) => tool.name)];
const loopTools = ["invoke_agent", "handover"];

/**
 * `inherit` passes the caller's rights on; the agent is offered its own tools and the client's. `exact` is these tools
 * and no others. `none` leaves the agent its own built-in tools. Whatever goes beyond the caller's rights is refused.
 */
export function grantTools(
  granter: Granter,
  target: { readonly ref: AgentRef; readonly agent: FoundAgent },
  policy: ToolPolicy,
): Granting {
  const own = ownTools(granter, target);
  if (!own.ok) return own;
  const external = granter.file.external_tools.map((tool) => tool.name);
  const { rights } = granter;
  const handed = target.agent.definition.handover === undefined ? [] : ["handover"];
  if (policy.kind === "exact") return listed(granter, policy.tools, { only: true });
  if (policy.kind === "none") return listed(granter, without(own.tools ?? handed, external), { only: true });
  if (target.ref.type === "ad_hoc") {
    // Nobody looked at an ad-hoc agent before: it gets what its maker is offered, without the means to call others.
    const offered = namesOf(granter, granter.offer).filter((name) => mayUse(rights, name));
    const made = own.tools ?? without(offered, [...delegation, "handover"]);
    return listed(granter, made, { only: true });
  }
  if (own.tools === undefined) return { ok: true, grant: { rights, offer: "*" } };
  return listed(granter, [...own.tools, ...external.filter((name) => mayUse(rights, name))], { only: false });
}

type Own =
  | { readonly ok: true; readonly tools: readonly string[] | undefined }
  | { readonly ok: false; readonly message: string };

/** What the definition or the ad-hoc configuration lists; undefined when it lists nothing. */
function ownTools(granter: Granter, { ref, agent }: { readonly ref: AgentRef; readonly agent: FoundAgent }): Own {
  if (ref.type === "ad_hoc")
    return ref.tools === undefined ? { ok: true, tools: undefined } : configured(granter, ref.tools);
  const { tools, handover } = agent.definition;
  if (tools === undefined) return { ok: true, tools: undefined };
  return { ok: true, tools: handover === undefined ? tools : [...tools, "handover"] };
}

function configured({ file, rights }: Granter, config: ToolsConfig): Own {
  if (config.dynamic.length > 0 || config.mcp.length > 0) {
    return {
      ok: false,
      message: "an ad-hoc agent cannot have dynamic or mcp tools here; list builtin and external ones",
    };
  }
  const brought = file.external_tools.map((tool) => tool.name).filter((name) => mayUse(rights, name));
  const wanted = config.external ?? [];
  return { ok: true, tools: [...config.builtin, ...(wanted.includes("*") ? brought : wanted)] };
}

/** `only`: the rights themselves narrow to the list, else just the offer does. */
function listed(granter: Granter, wanted: readonly string[], { only }: { readonly only: boolean }): Granting {
  const { rights } = granter;
  const names = [...new Set(wanted.includes("invoke_agent") ? [...wanted, ...delegation] : wanted)].filter(
    (name) => name !== "final",
  );
  const known = namesOf(granter, "*");
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    return { ok: false, message: `there is no tool ${unknown.join(", ")}; there are: ${known.join(", ")}` };
  const beyond = names.filter((name) => !mayUse(rights, name));
  if (beyond.length > 0)
    return { ok: false, message: `the caller may not use ${beyond.join(", ")}, so it cannot pass that on` };
  return { ok: true, grant: { rights: only ? { ...rights, tools: names } : rights, offer: names } };
}

/** Every tool of an offer by name. */
function namesOf({ file, environment }: Granter, offer: Offer): readonly string[] {
  if (offer !== "*") return offer;
  return [...environment.tools.map((tool) => tool.name), ...loopTools, ...file.external_tools.map((tool) => tool.name)];
}

function without(names: readonly string[], dropped: readonly string[]): string[] {
  return names.filter((name) => !dropped.includes(name));
}
