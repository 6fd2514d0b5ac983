// An invocation of one agent that makes the given calls, one in each turn, and ends.

interface ScriptedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export function scriptedAgent(calls: readonly ScriptedCall[], more: Readonly<Record<string, unknown>> = {}): string {
  const rules = calls.map(({ tool, args }, turn) => ({ agent: "coder", turn, call: [{ tool, args }] }));
  const message = { role: "user", parts: [{ part_type: "text", data: "Go." }] };
  return JSON.stringify({
    invocation: { targets: [{ agent: { type: "named", agent_id: "coder" }, message }] },
    agents: {
      coder: { instructions: "You work.", tools: [...new Set(calls.map(({ tool }) => tool)), "invoke_agent"] },
      helper: { instructions: "You help." },
    },
    roots: ["."],
    script: { rules: [...rules, { final: "{{last}}" }] },
    ...more,
  });
}
