// Tools of an MCP server: declared in code, offered by name, and asked about like any call that reaches outside.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { agent, openTutti } from "tutti";
import { call, script, transcriptOf } from "tutti/testing";

const traveller = agent({
  name: "traveller",
  instructions: "Say what time it is.",
  model: script(call("mcp__clock__time", { city: "Lima" }), "Noon."),
  tools: ["mcp__clock__time"],
});

const state = mkdtempSync(join(tmpdir(), "tutti-example-"));
const clock = { command: process.execPath, args: [join(import.meta.dirname, "clock-server.js")], network: false };
const tutti = await openTutti({ state, agents: [traveller], mcpServers: { clock } });
const run = await tutti.run(traveller, "What time is it in Lima?", { onAsk: ({ kind }) => kind === "approval" });
for (const { tool, output } of (await transcriptOf(run)).calls) console.log(`${tool}: ${JSON.stringify(output)}`);
console.log(await run.result());
await tutti.close();
rmSync(state, { recursive: true, force: true });
