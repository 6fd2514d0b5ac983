import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, beforeEach, test } from "node:test";
import { WebSocket } from "ws";
import { z } from "zod";

import { Problem } from "../../protocol/api/problem.ts";
import { JoinedOperator, OperatorTicket } from "../../protocol/operator/operator-session.ts";
import { type Kit, openKit } from "../../../test/support/http-kit.ts";

let kit: Kit;
// Every test has a service of its own, because wrong tokens from one address are answered more and more slowly.
beforeEach(async () => {
  kit = await openKit({ http: { allowedOrigins: ["https://board.example"] } });
});
afterEach(() => kit.close());

const join = async (): Promise<JoinedOperator> =>
  JoinedOperator.parse((await kit.call("/v1/operators", { json: {} })).body);
const path = (sid: string): string => `/v1/operators/${sid}/ws`;
const nobody = "op-00000000-0000-4000-8000-000000000000";

interface Dialled {
  readonly status: number;
  readonly protocol?: string;
  readonly problem?: Problem;
}

/** Opens a WebSocket and closes it again, or returns the error it was refused with. */
async function dial(target: string, headers: Record<string, string> = {}, protocols: string[] = []): Promise<Dialled> {
  const socket = new WebSocket(`${kit.http.url.replace("http", "ws")}${target}`, protocols, { headers });
  const opened = once(socket, "open").then((): Dialled => ({ status: 101, protocol: socket.protocol }));
  const refused = new Promise<Dialled>((resolve, reject) => {
    socket.once("unexpected-response", (_, response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("close", () => {
        assert.equal(response.headers["content-type"], "application/problem+json");
        assert.equal(response.headers["x-content-type-options"], "nosniff");
        if (response.statusCode === 401) assert.equal(response.headers["www-authenticate"], 'Bearer realm="tutti"');
        resolve({ status: response.statusCode ?? 0, problem: Problem.parse(JSON.parse(text)) });
      });
    });
    socket.once("error", reject);
  });
  opened.catch(() => {});
  const outcome = await Promise.race([opened, refused]);
  if (outcome.status === 101) {
    socket.close();
    await once(socket, "close");
  } else socket.terminate();
  return outcome;
}
const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });

test("the session's token opens its WebSocket; a missing or wrong token is a 401, an unknown session a 404", async () => {
  const [mine, other] = [await join(), await join()];
  assert.equal((await dial(path(mine.sid), bearer(mine.token))).status, 101);
  assert.equal((await dial(path(nobody))).status, 401);
  assert.equal((await dial(path(nobody), bearer(mine.token))).status, 404);
  for (const wrong of [other.token, `${mine.token}0`, mine.token.slice(0, -1), "x", mine.sid]) {
    assert.equal((await dial(path(mine.sid), bearer(wrong))).status, 401, wrong);
  }
  assert.equal((await dial(path(mine.sid), { authorization: mine.token })).status, 401);
});

test("an admin's key opens any operator's WebSocket, other keys open none", async () => {
  const { sid } = await join();
  assert.equal((await dial(path(sid), bearer(kit.key))).status, 101);
  for (const role of ["viewer", "operator"] as const) {
    const { key } = await kit.keys.add({ name: role, role });
    assert.equal((await dial(path(sid), bearer(key))).status, 403, role);
  }
});

test("the subprotocol is selected only when it is offered", async () => {
  const { sid, token } = await join();
  assert.equal((await dial(path(sid), bearer(token))).protocol, "");
  assert.equal((await dial(path(sid), bearer(token), ["tutti.v1"])).protocol, "tutti.v1");
  assert.equal((await dial(path(sid), bearer(token), ["other", "tutti.v1"])).protocol, "tutti.v1");
});

test("a ticket opens one WebSocket of its own session, once", async () => {
  const [mine, other] = [await join(), await join()];
  const ticket = async (): Promise<string> =>
    OperatorTicket.parse(
      (await kit.call(`/v1/operators/${mine.sid}/ticket`, { method: "POST", headers: bearer(mine.token) })).body,
    ).ticket;
  const first = await ticket();
  assert.equal((await dial(`${path(mine.sid)}?ticket=${first}`)).status, 101);
  assert.equal((await dial(`${path(mine.sid)}?ticket=${first}`)).status, 401);
  assert.equal((await dial(`${path(other.sid)}?ticket=${await ticket()}`)).status, 401);
  assert.equal((await dial(`${path(nobody)}?ticket=${await ticket()}`)).status, 404);
  assert.equal((await dial(`${path(mine.sid)}?ticket=ti-${"0".repeat(32)}`)).status, 401);
  assert.equal((await dial(`${path(mine.sid)}?ticket=`)).status, 401);
  assert.equal((await dial(`${path(mine.sid)}?ticket=a&ticket=b`)).status, 400);
  assert.equal((await dial(`${path(mine.sid)}?ticket=${await ticket()}&x=1`)).status, 422);
  assert.equal((await dial(`${path(mine.sid)}?token=${mine.token}`)).status, 401);
});

test("a page of another origin, or an unknown Host, cannot open a WebSocket even with the token", async () => {
  const { sid, token } = await join();
  const from = (headers: Record<string, string>) => dial(path(sid), { ...bearer(token), ...headers });
  assert.equal((await from({ origin: "https://evil.example" })).status, 403);
  assert.equal((await from({ origin: "null" })).status, 403);
  assert.equal((await from({ "sec-fetch-site": "cross-site" })).status, 403);
  assert.equal((await from({ host: "evil.example" })).status, 421);
  assert.equal((await from({ origin: kit.http.url })).status, 101);
  assert.equal((await from({ origin: "https://board.example", "sec-fetch-site": "cross-site" })).status, 101);
});

test("a WebSocket on another path, a plain GET and a broken handshake get HTTP errors", async () => {
  const { sid, token } = await join();
  assert.equal((await dial("/v1/tasks", bearer(kit.key))).status, 400);
  assert.equal((await dial("/v1/operators/x/ws/y", bearer(kit.key))).status, 404);
  const plain = await kit.call(path(sid), { headers: bearer(token) });
  assert.equal(plain.status, 426);
  assert.equal(plain.headers.get("upgrade"), "websocket");
  assert.equal((await kit.call(path(sid), { headers: { authorization: "" } })).status, 401);
  const broken = await kit.raw(
    [
      `GET ${path(sid)} HTTP/1.1`,
      `Host: 127.0.0.1:${kit.http.port}`,
      `Authorization: Bearer ${token}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Key: short",
      "Sec-WebSocket-Version: 13",
      "",
      "",
    ].join("\r\n"),
  );
  assert.match(broken, /^HTTP\/1\.1 400 [^]*application\/problem\+json/);
  const other = await kit.raw(
    [
      `GET /healthz HTTP/1.1`,
      `Host: 127.0.0.1:${kit.http.port}`,
      "Connection: Upgrade, close",
      "Upgrade: h2c",
      "",
      "",
    ].join("\r\n"),
  );
  assert.match(other, /^HTTP\/1\.1 200 /, "other upgrades are ignored");
});

test("session routes take the session's token or an admin's key; any key may read", async () => {
  const [mine, other] = [await join(), await join()];
  const at = (sid: string): string => `/v1/operators/${sid}`;
  const viewer = (await kit.keys.add({ name: "v", role: "viewer" })).key;
  const status = async (method: string, target: string, secret: string) =>
    (await kit.call(target, { method, headers: bearer(secret) })).status;
  assert.equal(await status("GET", at(mine.sid), mine.token), 200);
  assert.equal(await status("GET", at(mine.sid), viewer), 200);
  assert.equal(await status("GET", at(mine.sid), other.token), 401);
  assert.equal(await status("GET", at(nobody), mine.token), 404);
  assert.equal(await status("GET", at("nonsense"), kit.key), 404);
  assert.equal(await status("POST", `${at(mine.sid)}/ticket`, viewer), 403);
  assert.equal(await status("POST", `${at(mine.sid)}/ticket`, other.token), 401);
  assert.equal(await status("DELETE", at(mine.sid), viewer), 403);
  assert.equal(await status("DELETE", at(mine.sid), mine.token), 204);
  assert.equal(await status("DELETE", at(mine.sid), mine.token), 404);
  assert.equal(await status("DELETE", at(other.sid), kit.key), 204);
  assert.equal(
    (await kit.call("/v1/tasks", { headers: bearer(other.token) })).status,
    401,
    "a session token is not a key",
  );
});

test("joining with names that are taken is a conflict that lists all of them", async () => {
  const first = await kit.call("/v1/operators", { json: { roles: ["judge", "gate"] } });
  assert.equal(first.status, 200);
  const second = await kit.call("/v1/operators", { json: { roles: ["gate", "other", "judge"] } });
  assert.equal(second.status, 409);
  const { error, conflicts, code } = z
    .object({ error: z.string(), conflicts: z.array(z.string()), code: z.string() })
    .parse(second.body);
  assert.deepEqual(
    { error, conflicts: conflicts.toSorted(), code },
    { error: "roles conflict", conflicts: ["gate", "judge"], code: "conflict" },
  );
});
