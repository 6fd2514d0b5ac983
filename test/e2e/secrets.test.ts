// Keys, tokens, handles and provider keys, put wherever they could leak from: nothing that is kept, told or logged has them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { daemonFor } from "./daemon-process.ts";
import { handed } from "./scenario-invocations.ts";
import { scenarioOf } from "./scenario.ts";
import { send } from "./send-json.ts";
import { joinAs } from "./wire-operator.ts";

/** Made up; in the form of a provider's. */
const providerKey = `sk-ant-api03-${"Zk9".repeat(12)}`;
const privateValue = "hunter2-correct-horse-battery";

test("no secret is in events, transcripts, exports, the log or the state folder, whoever says it", async (t) => {
  const env = { ANTHROPIC_API_KEY: providerKey, DATABASE_PASSWORD: privateValue };
  const daemon = await daemonFor(t, { env, args: ["--log-level", "trace"] });
  const scenario = scenarioOf(daemon);
  const operator = await joinAs(daemon, ["builder"]);
  t.after(() => operator.close());
  const socket = await operator.connect();
  const made = await scenario.client.addKey({ name: "second", role: "viewer" });
  const told = `use ${providerKey} and ${privateValue}, or ${made.key} or ${daemon.key}`;
  const task = await scenario.start(handed({ operator: "builder", ack_ms: 0 }, {}, told));
  const { task_id, worker_handle: bearer = "", capability_token } = await socket.next("spawn");
  const secrets = {
    "the admin key": daemon.key,
    "another key": made.key,
    "the provider's key": providerKey,
    "a variable of the environment": privateValue,
    "a handle": bearer,
    "a token": capability_token,
    "a session's token": operator.token,
  };
  const everything = Object.values(secrets).join(" ");
  const worker = { method: "POST", bearer } as const;
  const progress = {
    events: [
      { type: "progress", text: everything },
      { type: "partial", value: { everything } },
    ],
  };
  const post = async (path: string, body: unknown): Promise<void> => {
    const reply = await send(daemon.url, { ...worker, path, body });
    assert.equal(reply.status, 200, reply.text);
  };
  await post("/v1/worker/events", progress);
  await post("/v1/worker/ask", { key: "k", question: `Is ${everything} right?`, wait_ms: 0 });
  const ask = await scenario.asked(task);
  await scenario.answer(ask, everything);
  await scenario.client.sendMessage(task, everything);
  // Wrong ones on purpose, in every place a bearer is read: an error must not repeat what it was given.
  for (const path of ["/v1/status", `/v1/operators/${operator.sid}`, `/v1/worker/prompt?task_id=${task_id}`]) {
    await send(daemon.url, {
      path: `${path}${path.includes("?") ? "&" : "?"}token=${daemon.key}`,
      bearer: `${daemon.key}x`,
    });
  }
  socket.send(`{"type": "hook_ack", "req_id": "${everything}"`);
  await socket.next("error");
  await post("/v1/worker/submit", everything);
  await scenario.client.result(task);

  const child = (await scenario.client.tree(task)).find(({ parent }) => parent === task);
  assert.ok(child);
  const bearers = { bearer: daemon.key };
  const paths = [
    "/v1/events?limit=1000",
    "/v1/tasks?roots=false",
    ...[task, child.id].flatMap((id) =>
      ["", "/tree", "/messages", "/steps", "/result", "/export"].map((part) => `/v1/tasks/${id}${part}`),
    ),
    "/v1/asks",
    "/v1/keys",
    "/v1/operators",
    "/v1/status",
  ];
  const texts = new Map<string, string>();
  for (const path of paths) {
    const reply = await send(daemon.url, { path, ...bearers });
    assert.equal(reply.status, 200, `${path}: ${reply.text}`);
    texts.set(path, reply.text);
  }
  assert.ok(
    [...texts.values()].some((text) => text.includes("is right") || text.includes("right?")),
    "the texts are there",
  );
  await daemon.stop();
  texts.set("what the daemon printed", daemon.output);
  const owned = new Set(["admin.key", "signing.key"]);
  for (const name of readdirSync(daemon.state, { recursive: true, withFileTypes: true })) {
    if (!name.isFile() || owned.has(name.name)) continue;
    const path = join(name.parentPath, name.name);
    texts.set(path, readFileSync(path, "latin1"));
  }
  assert.ok(
    [...texts.keys()].some((path) => /\.(db|sqlite)/.test(path)),
    "the database was looked at",
  );
  for (const [where, text] of texts) {
    for (const [what, secret] of Object.entries(secrets)) {
      const at = text.indexOf(secret);
      assert.equal(at, -1, `${what} is in ${where}: …${text.slice(Math.max(0, at - 120), at)}<here>`);
    }
  }
});
