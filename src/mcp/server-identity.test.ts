import assert from "node:assert/strict";
import { test } from "node:test";

import { type McpServerEntry, readMcpFile } from "../protocol/invocation/mcp-servers.ts";
import { checkedUrl } from "./bounded-fetch.ts";
import { expandVariables, variableNames } from "./expand-variables.ts";
import { resultOf } from "./mcp-result.ts";
import { effectOf } from "./server-tools.ts";
import { type OfferedTool, toolHash, toolName, toolsHash } from "./server-identity.ts";
import { termsHash } from "./server-terms.ts";

function serverIn(entry: object): McpServerEntry {
  const { servers, problems } = readMcpFile({ mcpServers: { it: entry } });
  assert.deepEqual(problems, []);
  const found = servers["it"];
  assert.ok(found !== undefined);
  return found;
}

test("a .mcp.json of others is read, with what is unusable named and left out, and their fields that loosen approvals ignored", () => {
  const { servers, problems } = readMcpFile({
    mcpServers: {
      good: { command: "npx", args: ["-y", "x"], autoApprove: ["*"], alwaysAllow: ["a"], disabled: false },
      web: { type: "http", url: "https://x.example/mcp" },
      old: { type: "sse", url: "https://x.example/sse" },
      a__b: { command: "x" },
      empty: {},
    },
  });
  assert.deepEqual(Object.keys(servers), ["good", "web"]);
  assert.deepEqual([...new Set(problems.map(({ server }) => server))], ["old", "a__b", "empty"]);
  assert.equal("autoApprove" in (servers["good"] ?? {}), false);
  assert.equal(readMcpFile([]).problems.length, 1);
});

test("what a person agrees to changes with the command, the variables and the address, and not with the order of fields", () => {
  const one = serverIn({ command: "x", args: ["a"], env: { A: "1", B: "${T}" } });
  const same = serverIn({ env: { B: "${T}", A: "1" }, args: ["a"], command: "x" });
  assert.equal(termsHash({ name: "it", entry: one }), termsHash({ name: "it", entry: same }));
  for (const other of [
    { command: "y", args: ["a"], env: { A: "1", B: "${T}" } },
    { command: "x", args: ["b"], env: { A: "1", B: "${T}" } },
    { command: "x", args: ["a"], env: { A: "1", B: "${S}" } },
    { command: "x", args: ["a"], env: { A: "1", B: "${T}" }, network: false },
  ]) {
    assert.notEqual(termsHash({ name: "it", entry: serverIn(other) }), termsHash({ name: "it", entry: one }));
  }
  assert.notEqual(termsHash({ name: "other", entry: one }), termsHash({ name: "it", entry: one }));
  const tool: OfferedTool = { name: "t", description: "d", inputSchema: { type: "object" } };
  for (const change of [{ name: "u" }, { description: "e" }, { inputSchema: { type: "object", required: ["a"] } }]) {
    assert.notEqual(toolHash({ ...tool, ...change }), toolHash(tool));
    assert.notEqual(toolsHash([{ ...tool, ...change }]), toolsHash([tool]));
  }
  assert.equal(toolHash({ ...tool, annotations: { readOnlyHint: true } }), toolHash(tool));
});

test("only allowed variables are expanded, and a missing one is an error unless there is a default", () => {
  const entry = serverIn({ command: "x", args: ["${USER:-nobody}"], env: { T: "Bearer ${TOKEN}" } });
  assert.deepEqual(variableNames(entry), ["TOKEN", "USER"]);
  const env = { TOKEN: "secret", ANTHROPIC_API_KEY: "key" };
  assert.throws(() => expandVariables(entry, { env, allowed: [], folder: undefined }), { code: "refused" });
  const expanded = expandVariables(entry, { env, allowed: ["TOKEN"], folder: undefined });
  assert.partialDeepStrictEqual(expanded, { args: ["nobody"], env: { T: "Bearer secret" } });
  assert.throws(() => expandVariables(entry, { env: {}, allowed: "all", folder: undefined }), /TOKEN is not set/);
  const web = serverIn({ url: "https://x.example/${ANTHROPIC_API_KEY}" });
  assert.throws(() => expandVariables(web, { env, allowed: ["TOKEN"], folder: undefined }), { code: "refused" });
});

test("names of tools begin with their server, fit every provider, and two tools never share one", () => {
  assert.equal(toolName("git", "log"), "mcp__git__log");
  const odd = ["a.b", "a/b", "a b", "ä".repeat(80), "x".repeat(80), `${"x".repeat(80)}y`].map((name) =>
    toolName("git", name),
  );
  assert.equal(new Set(odd).size, odd.length);
  for (const name of odd) assert.match(name, /^mcp__git__[A-Za-z0-9_-]{1,54}$/);
});

test("what a server says of its tools never makes a call freer", () => {
  const local = serverIn({ command: "x", network: false });
  assert.deepEqual(effectOf(local, true), { effects: ["execute"], confined: true });
  assert.deepEqual(effectOf(local, false), { effects: ["execute"], confined: false });
  assert.deepEqual(effectOf(serverIn({ command: "x" }), true), { effects: ["execute", "network"], confined: true });
  const writing = serverIn({ command: "x", write: true, network: false });
  assert.deepEqual(effectOf(writing, true), { effects: ["write", "execute"], confined: false });
  assert.deepEqual(effectOf(serverIn({ url: "https://x" }), true), { effects: ["network"], confined: false });
});

test("an answer becomes text or data; pictures are named and not shown, and an address must be encrypted or of this machine", () => {
  const content = [
    { type: "text", text: "one" },
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "resource", resource: { uri: "x://y", text: "two" } },
    { type: "novel", what: 1 },
  ];
  const text = "one\n[image, image/png, 3 bytes: it cannot be shown]\ntwo\n[novel: it cannot be shown]";
  assert.equal(resultOf("s", { content }), text);
  const structuredContent = { a: 1 };
  assert.deepEqual(resultOf("s", { content: [{ type: "text", text: '{"a": 1}' }], structuredContent }), { a: 1 });
  assert.throws(() => resultOf("s", { content: [], isError: true }), { code: "step_failed" });
  assert.throws(() => resultOf("s", "no"), { code: "step_failed" });
  assert.equal(checkedUrl("http://127.0.0.1:1/mcp").port, "1");
  for (const bad of ["http://x.example/mcp", "file:///etc/passwd", "no", "http://127.0.0.1.evil.example/"]) {
    assert.throws(() => checkedUrl(bad));
  }
});
