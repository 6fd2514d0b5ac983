// The file a new agent starts from: it works as it is, and its comments say what else can be set.

export function starterDefinition(name: string): string {
  return `---
name: ${name}
description: Says in one line what ${name} is good for; other agents choose by it.

# The tools it is offered, separated by commas; every tool it has a right to when absent.
# read, write, edit, list, search, run, ask, invoke_agent; \`tutti agents check\` knows the rest.
tools: read, list, search

# provider/model or an alias of tutti.config; the default model when absent. See \`tutti models\`.
# model: anthropic/claude-sonnet-5-5

# How it calls tools: native, fenced, or auto, which goes by the model.
# format: auto

# Agents it may call (all when absent), and agents it may hand its task over to.
# sub_agents: [reviewer]
# handover: [reviewer]

# inherited: it sees the conversation of the agent that calls it.
# context: inherited

# Limits of one run.
# max_turns: 50
# budget: { money_usd: 0.50, tokens: 500000 }

# JSON Schema its result must satisfy.
# output_schema: { type: object, required: [answer], properties: { answer: { type: string } } }
---

You are ${name}. Do what the message asks, no more.

Look before you change anything. When you are done, call \`final\` once with what you found or made. If you cannot do it,
say why in \`final\`.
`;
}
