// The tools that a definition lists, translated to the names Tutti has for them.

import { loopTool } from "../tools/loop-tools.ts";

/** Tool names of coding agents whose definitions people already have, and our tools that do the same. */
const ourNames: Readonly<Record<string, string>> = {
  Read: "read",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  Bash: "run",
  Grep: "search",
  Glob: "search",
  LS: "list",
  Task: loopTool.invokeAgent,
  Agent: loopTool.invokeAgent,
  AskUserQuestion: "ask",
};

/** Tools of MCP servers have the names that their servers give them. */
const ownName = /^(?:mcp__[A-Za-z0-9_-]+(?:__\*)?|(?!mcp__)[a-z][a-z0-9_.-]*)$/;
const limited = /^([A-Za-z][\w-]*)\((.*)\)$/s;

export interface ListedTools {
  /** Undefined means every tool the agent has a right to; an empty list means none. */
  readonly tools: readonly string[] | undefined;
  /** The only agents that may be called, from `Task(a, b)`; undefined when calls are not restricted. */
  readonly agents: readonly string[] | undefined;
  readonly warnings: readonly string[];
}

/** A tool that cannot be given exactly as listed is left out with a warning, so an agent never gets more than its author meant. */
export function readTools(listed: readonly string[]): ListedTools {
  if (listed.includes("*")) return { tools: undefined, agents: undefined, warnings: [] };
  const tools = new Set<string>();
  const agents = new Set<string>();
  const warnings: string[] = [];
  let anyAgent = false;
  for (const entry of listed) {
    const [, name = entry, limits] = limited.exec(entry) ?? [];
    const mapped = Object.hasOwn(ourNames, name) ? ourNames[name] : ownName.test(name) ? name : undefined;
    if (mapped === undefined) {
      warnings.push(`Tutti has no tool ${entry}; it is left out`);
    } else if (limits === undefined) {
      tools.add(mapped);
      if (mapped === loopTool.invokeAgent) anyAgent = true;
    } else if (mapped === loopTool.invokeAgent) {
      tools.add(mapped);
      for (const agent of splitList(limits)) agents.add(agent);
    } else {
      warnings.push(
        `${entry} is left out: Tutti cannot limit ${mapped} to some calls; list ${mapped} to give all of it`,
      );
    }
  }
  return { tools: [...tools], agents: anyAgent || agents.size === 0 ? undefined : [...agents], warnings };
}

/** Splits at commas, except inside parentheses. */
export function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const char of text) {
    if (char === "(") depth += 1;
    if (char === ")" && depth > 0) depth -= 1;
    if (char === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += char;
  }
  return [...parts, part].map((item) => item.trim()).filter((item) => item !== "");
}
