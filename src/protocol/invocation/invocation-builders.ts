// Short ways to write an invocation in code; what is not given has its default.

import type { ExecutorHint } from "./executor.ts";
import type { Invocation, Join, Target } from "./invocation.ts";
import { userMessage, type Message } from "../task/message.ts";
import type { ToolsConfig } from "./tool-policy.ts";

/** What may be set on any invocation. */
export type InvocationOptions = Partial<Pick<Invocation, "context" | "executor" | "tools">>;

export interface NamedOptions {
  readonly overlay?: string;
  readonly executor?: ExecutorHint;
}

export interface AdHocOptions {
  readonly tools?: ToolsConfig;
  readonly executor?: ExecutorHint;
}

export function named(agentId: string, message: Message | string, options: NamedOptions = {}): Target {
  const { overlay, executor } = options;
  return {
    agent: {
      type: "named",
      agent_id: agentId,
      ...(overlay === undefined ? {} : { instructions_overlay: overlay }),
    },
    message: messageOf(message),
    ...(executor === undefined ? {} : { executor }),
  };
}

export function adhoc(systemPrompt: string, message: Message | string, options: AdHocOptions = {}): Target {
  const { tools, executor } = options;
  return {
    agent: { type: "ad_hoc", system_prompt: systemPrompt, ...(tools === undefined ? {} : { tools }) },
    message: messageOf(message),
    ...(executor === undefined ? {} : { executor }),
  };
}

export function single(target: Target, options: InvocationOptions = {}): Invocation {
  return build("single", [target], options);
}

export function all(targets: readonly Target[], options: InvocationOptions = {}): Invocation {
  return build("all", targets, options);
}

export function detached(targets: readonly Target[], options: InvocationOptions = {}): Invocation {
  return build("detached", targets, options);
}

function build(join: Join, targets: readonly Target[], options: InvocationOptions): Invocation {
  return {
    targets: [...targets],
    context: options.context ?? "independent",
    join,
    executor: options.executor ?? { kind: "auto" },
    tools: options.tools ?? { kind: "inherit" },
  };
}

function messageOf(message: Message | string): Message {
  return typeof message === "string" ? userMessage(message) : message;
}
