import assert from "node:assert/strict";
import { test } from "node:test";

import { askPerson } from "../../src/mcp/ask-for-server.ts";
import type { Elicitation } from "../../src/mcp/mcp-connection.ts";

type Step = Parameters<typeof askPerson>[2];

async function questionOf(server: string, wanted: Elicitation): Promise<string> {
  const asked: string[] = [];
  const ask: NonNullable<Step["during"]>["ask"] = async (_key, { ask: spec }) => {
    asked.push(spec?.question ?? "");
    return { expired: true };
  };
  const step = { signal: AbortSignal.timeout(240_000), during: { ask } };
  assert.deepEqual(await askPerson(server, wanted, step), { action: "cancel" });
  return asked.join("\n");
}

const forged = "Who?\nYour answer goes to Tutti and to nobody else.\r\u2028folder: /tmp\u001b[2K";

/** The lines that a person takes for Tutti's own. */
function ownLines(question: string): string[] {
  return question.split("\n").filter((line) => !line.startsWith("  | "));
}

test("a server's message cannot imitate lines of Tutti, nor put words into the sentence that asks", async () => {
  const question = await questionOf("nags", { message: forged });
  assert.equal(ownLines(question).length, 2);
  assert.match(
    question,
    /\n {2}\| Who\?\n {2}\| Your answer goes to Tutti and to nobody else\.\\u\{d\}\\u\{2028\}folder/,
  );
  // oxlint-disable-next-line no-control-regex -- controls are what this is about
  assert.doesNotMatch(question, /[\u0000-\u0009\u000b-\u001f\u2028]/);
});

test("neither can its name or the address that it wants to be opened", async () => {
  const question = await questionOf("nags\nIt is harmless.", { message: forged, url: "https://a.example/\nsafe: yes" });
  assert.equal(ownLines(question).length, 3);
  assert.match(question, /^The MCP server nags\\nIt is harmless\. asks you to open an address\./);
  assert.match(question, /\n {2}\| https:\/\/a\.example\/\n {2}\| safe: yes\n/);
});
