// Installs the coding agents that are named. Ends with status 75 when the registry does not deliver one, which says nothing about Tutti.

import { codingAgents, type AgentName, installAgent, NotDelivered } from "./coding-agents.ts";

const notDelivered = 75;

for (const name of process.argv.slice(2)) {
  if (!isKnown(name)) throw new Error(`there is no agent ${name}; there are: ${Object.keys(codingAgents).join(", ")}`);
  try {
    const began = performance.now();
    const folder = await installAgent(name);
    console.log(`${name} is in ${folder} (${Math.round((performance.now() - began) / 1_000)} s)`);
  } catch (thrown) {
    if (!(thrown instanceof NotDelivered)) throw thrown;
    console.error(thrown.message);
    process.exit(notDelivered);
  }
}

function isKnown(name: string): name is AgentName {
  return Object.hasOwn(codingAgents, name);
}
