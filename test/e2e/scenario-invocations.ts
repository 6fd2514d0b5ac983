// The invocations that the end-to-end scenarios start; each is small and about one thing.

const say = (text: string): unknown => ({ role: "user", parts: [{ part_type: "text", data: text }] });
const named = (agent: string, text: string): Record<string, unknown> => ({
  agent: { type: "named", agent_id: agent },
  message: say(text),
});

type More = Readonly<Record<string, unknown>>;

/** Asks which one, and ends with `took <answer>`. */
export function asking(more: More = {}): string {
  return JSON.stringify({
    invocation: { targets: [named("asker", "Choose.")] },
    agents: { asker: { instructions: "You ask.", tools: ["ask"] } },
    script: {
      rules: [
        { turn: 0, ask: { question: "Which one?" } },
        { last: { regex: '"value":"([\\w-]+)"' }, final: "took {{1}}" },
      ],
    },
    ...more,
  });
}

/** Calls its tool so often, waits a little each time, and ends with `talked`. */
export function talking(turns: number, more: More = {}): string {
  const calls = Array.from({ length: turns }, (_, turn) => ({
    turn,
    delay_ms: 15,
    call: [{ tool: "echo", args: { text: `part ${turn}` } }],
  }));
  return JSON.stringify({
    invocation: { targets: [named("talker", "Talk.")] },
    agents: { talker: { instructions: "You talk.", tools: ["echo"] } },
    script: { rules: [...calls, { final: "talked" }] },
    ...more,
  });
}

/** Is handed to an operator. */
export function handed(config: More, more: More = {}, text = "Build it."): string {
  const executor = { kind: "force", type: "remote", runner: { kind: "operator", config } };
  return JSON.stringify({
    invocation: { targets: [{ ...named("builder", text), executor }] },
    agents: { builder: { instructions: "You are worked for." } },
    ...more,
  });
}
