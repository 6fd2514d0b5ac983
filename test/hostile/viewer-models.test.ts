// A viewer asks for the models, and a provider answers a probe with a redirect: neither may cost a key or run code.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { DaemonProcess } from "../e2e/daemon-process.ts";
import { sendJson, wireServer } from "../support/loopback-server.ts";

test("a viewer's look at the models runs no code and sends no key; an operator's probe follows no redirect", async (t) => {
  const secret = "sk-very-secret-0123456789";
  const asked: string[] = [];
  const thief = await wireServer(t, (request, response) => {
    asked.push(`thief ${JSON.stringify(request.headers)}`);
    sendJson(response, { data: [] });
  });
  const provider = await wireServer(t, (_, response) => {
    asked.push("provider");
    response.writeHead(302, { location: `${thief.url}/models` }).end();
  });
  const daemon = new DaemonProcess({ env: { MY_KEY: secret } });
  t.after(() => daemon.close());
  const marker = join(daemon.folder, "ran");
  const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, ""); export default {};`;
  const project = join(daemon.folder, "project");
  mkdirSync(project);
  for (const folder of [daemon.folder, project]) writeFileSync(join(folder, "tutti.config.mjs"), code);
  const settings = { kind: "anthropic", base_url: provider.url, key_env: "MY_KEY" };
  mkdirSync(join(daemon.folder, ".tutti"), { mode: 0o700 });
  const own = { models: { default: "mine/tiny", providers: { mine: settings } } };
  writeFileSync(join(daemon.folder, ".tutti", "tutti.config.json"), JSON.stringify(own));
  await daemon.up();
  const client = daemon.client();
  const viewer = await client.addKey({ name: "looks", role: "viewer" });
  const operator = await client.addKey({ name: "works", role: "operator" });
  const models = async (query: string, key: string): Promise<{ status: number; text: string }> => {
    const reply = await fetch(`${daemon.url}/v1/models${query}`, { headers: { authorization: `Bearer ${key}` } });
    return { status: reply.status, text: await reply.text() };
  };
  const looked = await models("", viewer.key);
  assert.equal(looked.status, 200, looked.text);
  assert.match(looked.text, /mine\/tiny/, "the user's own config counts");
  assert.equal((await models("?probe=true", viewer.key)).status, 403);
  assert.equal((await models(`?folder=${encodeURIComponent(project)}`, viewer.key)).status, 403);
  const untrusted = await models(`?folder=${encodeURIComponent(project)}`, operator.key);
  assert.equal(untrusted.status, 403, "nobody has trusted that project");
  assert.match(untrusted.text, /tutti trust/);
  assert.deepEqual(asked, []);
  const probed = await models("?probe=true", operator.key);
  assert.match(probed.text, /redirects to another address, which is not followed/);
  assert.deepEqual(asked, ["provider"]);
  assert.ok(!existsSync(marker));
});
