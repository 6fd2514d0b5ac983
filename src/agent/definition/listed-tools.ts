// The tools a definition lists, under the names Tutti has for them.

/** Tool names of coding agents whose definitions people already have, and ours that do the same. */
const ours: Readonly<Record<string, string>> = {
  Read: "read",
  Write: "write",
  Edit: "edit",
  MultiEdit: "edit",
  Bash: "run",
  Grep: "search",
  Glob: "search",
  LS: "list",
  Task: "invoke_agent",
  Agent: "invoke_agent",
  AskUserQuestion: "ask",
};

/** Tools of MCP servers have names like ours, and nothing here brings them. */
const ownName = /^(?!mcp__)[a-z][a-z0-9_.-]*$/;
const limited = /^([A-Za-z][\w-]*)\((.*)\)$/s;

export interface ListedTools {
  /** Undefined: all it has a right to. An empty list is none. */
  readonly tools: readonly string[] | undefined;
  /** Agents that `Task(a, b)` restricts calls to. */
  readonly agents: readonly string[] | undefined;
  readonly warnings: readonly string[];
}

/** Whatever cannot be given as it is written is left out with a warning, so an agent never gets more than its author said. */
export function readTools(listed: readonly string[]): ListedTools {
  if (listed.includes("*")) return { tools: undefined, agents: undefined, warnings: [] };
  const tools = new Set<string>();
  const agents = new Set<string>();
  const warnings: string[] = [];
  let anyAgent = false;
  for (const entry of listed) {
    const [, name = entry, limits] = limited.exec(entry) ?? [];
    const mapped = Object.hasOwn(ours, name) ? ours[name] : ownName.test(name) ? name : undefined;
    if (mapped === undefined) {
      warnings.push(`Tutti has no tool ${entry}; it is left out`);
    } else if (limits === undefined) {
      tools.add(mapped);
      if (mapped === "invoke_agent") anyAgent = true;
    } else if (mapped === "invoke_agent") {
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

/** Comma-separated; a comma inside parentheses separates nothing. */
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
