// What a tool of Tutti's own MCP server is, who may call it, and what a call is told about its caller.

import type { z } from "zod";

import type { Tutti } from "../../client/client.ts";
import type { Answerer } from "../../protocol/task/ask.ts";
import type { Access } from "../../protocol/api/route-shape.ts";
import type { TuttiError } from "../../protocol/error.ts";
import type { ProgramCaller } from "../../protocol/invocation/by-program.ts";
import type { TaskId } from "../../protocol/ids.ts";

type KeyRole = Extract<Access, "viewer" | "operator" | "admin">;

/** Who calls: somebody with an API key, or a worker, whose handle gives it the tools of workers and no others. */
export type McpCaller =
  | {
      readonly kind: "key";
      /** The id of the key. */
      readonly id: string;
      readonly name: string;
      /** The role of the key, or a lower one that the caller asked for. */
      readonly role: KeyRole;
      /** What its work is marked with: whatever calls over MCP is a program. */
      readonly program: ProgramCaller;
      /** What names the caller where an idempotency key is kept. */
      readonly keyOwner: string;
    }
  | { readonly kind: "worker"; readonly bearer: string };

export interface McpCall {
  readonly caller: McpCaller;
  /** Where relative paths begin; undefined when the caller did not say. */
  readonly folder: string | undefined;
  /** Aborted when the caller goes away or takes the call back, when its key is revoked, and when the service stops. */
  readonly signal: AbortSignal;
  /** Tells the caller that the call goes on, if it wants to know. */
  progress(message: string): void;
  /** Starts work here, or at a node that has its folder, and the work of the tasks that it builds on, if this one does not. */
  startAnywhere<T>(start: (tutti: Tutti) => Promise<T>, after?: readonly TaskId[]): Promise<T>;
  /** Delays the answer to somebody who may be guessing secrets. */
  slowDown(error: TuttiError): Promise<TuttiError>;
}

export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** `worker`: whoever may act as an operator, and a worker itself. */
  readonly access: KeyRole | "worker";
  readonly readOnly: boolean;
  readonly input: z.ZodType;
  /** The arguments have not been checked yet. */
  run(input: unknown, call: McpCall): Promise<unknown>;
}

export function mcpTool<S extends z.ZodType>(
  tool: Omit<McpTool, "input" | "run"> & {
    readonly input: S;
    readonly run: (input: z.output<S>, call: McpCall) => Promise<unknown>;
  },
): McpTool {
  return { ...tool, run: (input, call) => tool.run(tool.input.parse(input), call) };
}

const ranks = { viewer: 0, operator: 1, admin: 2 } as const;

export function mayCall(caller: McpCaller, { access }: Pick<McpTool, "access">): boolean {
  if (caller.kind === "worker") return access === "worker";
  return ranks[caller.role] >= ranks[access === "worker" ? "operator" : access];
}

/** The lower of two roles: what a caller asks for can narrow what its key allows and never widen it. */
export function narrowedRole(role: KeyRole, wanted: string | undefined): KeyRole {
  if (wanted !== "viewer" && wanted !== "operator" && wanted !== "admin") return wanted === undefined ? role : "viewer";
  return ranks[wanted] < ranks[role] ? wanted : role;
}

/** To be spread into what acts for a caller. */
export function programIn(caller: McpCaller): { readonly program?: ProgramCaller } {
  return caller.kind === "key" ? { program: caller.program } : {};
}

/** Whatever answers through MCP is a program, most often a model, and never counts as the person. */
export function answererOf(caller: McpCaller): Answerer {
  return { kind: "operator", name: caller.kind === "key" ? `${caller.name} (MCP)` : "worker" };
}
