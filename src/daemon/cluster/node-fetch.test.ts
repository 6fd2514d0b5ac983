import assert from "node:assert/strict";
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";

import { type CertificatePair, makeCertificate, noOpenssl } from "../../../test/support/certificates.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type ClusterKey, clusterKeyFrom, newClusterKey } from "./cluster-key.ts";
import { nodeFetch, readNodeUrl } from "./node-fetch.ts";
import { sendProof } from "../http/send-proof.ts";
import { proofOf, proofPath } from "./node-proof.ts";
import { checkNodeToken, nodeToken, nodeTokenHeader } from "./node-token.ts";

const key = clusterKeyFrom(newClusterKey(), "the test");
const now = 1_800_000_000_000;
const request = { method: "POST", path: "/v1/node/live?task=t_1" };
const token = nodeToken(key, { from: 3, to: 7, ...request }, now);

function refusal(check: () => unknown): string {
  try {
    check();
  } catch (thrown) {
    if (thrown instanceof TuttiError && thrown.code === "unauthorized") return thrown.message;
    throw thrown;
  }
  return assert.fail("it was accepted");
}

test("a node's token is accepted by the node it is for, for the request it is for, and says who sent it", () => {
  assert.equal(checkNodeToken(token, request, { key, to: 7, now: now + 30_000 }), 3);
});

test("a node's token is refused by another node, for another request, too late, too early and from another cluster", () => {
  const at = { key, to: 7, now };
  const other = clusterKeyFrom(newClusterKey(), "other");
  assert.match(
    refusal(() => checkNodeToken(token, request, { ...at, to: 8 })),
    /another node/,
  );
  assert.match(
    refusal(() => checkNodeToken(token, { ...request, method: "GET" }, at)),
    /another request/,
  );
  assert.match(
    refusal(() => checkNodeToken(token, { ...request, path: "/v1/node/live?task=t_2" }, at)),
    /another/,
  );
  assert.match(
    refusal(() => checkNodeToken(token, request, { ...at, now: now + 61_000 })),
    /61 s old/,
  );
  assert.match(
    refusal(() => checkNodeToken(token, request, { ...at, now: now - 61_000 })),
    /clocks/,
  );
  assert.match(
    refusal(() => checkNodeToken(token, request, { ...at, key: other })),
    /not come from a node/,
  );
});

test("a node's token is refused when a character of it is missing, added or different", () => {
  const bad = ["", "tn1", "tn1..", `${token}.`, `${token}A`, `x${token}`, token.slice(0, -1)];
  for (let place = 0; place < token.length - 1; place += 1) {
    bad.push(`${token.slice(0, place)}${token[place] === "A" ? "B" : "A"}${token.slice(place + 1)}`);
  }
  for (const each of [undefined, ...bad]) {
    assert.match(
      refusal(() => checkNodeToken(each, request, { key, to: 7, now })),
      /not come from a node/,
    );
  }
});

interface Heard {
  readonly url: string;
  readonly seen: { from: number; authorization: string | undefined; body: string }[];
}

/** A node that takes requests of other nodes alone. `announced` is where it says that it is, if that is somewhere else. */
async function listening(
  t: TestContext,
  to: number,
  { tls, announced, own = key }: { tls?: CertificatePair; announced?: string; own?: ClusterKey } = {},
): Promise<Heard> {
  const seen: Heard["seen"] = [];
  const answer = (given: IncomingMessage, response: ServerResponse): void => {
    const { method = "", url: path = "", headers } = given;
    if (path.startsWith(proofPath)) {
      const node = { incarnation: to, url: announced ?? at(), certificate: tls?.cert ?? null };
      const error = sendProof(
        {
          checkToken: (shown, asked) => checkNodeToken(shown, asked, { key, to, now: Date.now() }),
          prove: (query) => proofOf(own, node, query),
        },
        given,
        response,
      );
      if (error !== undefined) response.writeHead(401).end();
      return;
    }
    const shown = headers[nodeTokenHeader];
    void given.toArray().then((chunks) => {
      try {
        const from = checkNodeToken(
          typeof shown === "string" ? shown : undefined,
          { method, path },
          { key, to, now: Date.now() },
        );
        seen.push({ from, authorization: headers.authorization, body: Buffer.concat(chunks).toString() });
        response.writeHead(200).end("done");
      } catch {
        response.writeHead(401).end();
      }
    });
  };
  const server = tls === undefined ? createPlainServer(answer) : createServer(tls, answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const at = (): string =>
    `${tls === undefined ? "http" : "https"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: at(), seen };
}

const isUnreachable = (thrown: unknown): boolean => thrown instanceof TuttiError && thrown.code === "unreachable";

const sender = (from: number, with_: ClusterKey = key) => ({ key: with_, from, proven: new Set<string>() });

test("a node reaches another one over TLS with the caller's own credentials", { skip: noOpenssl }, async (t) => {
  const pair = makeCertificate(t, "b", ["IP:127.0.0.1"]);
  const { url, seen } = await listening(t, 7, { tls: pair });
  const send = nodeFetch({ incarnation: 7, url, certificate: pair.cert }, sender(3));
  const init = { method: "POST", headers: { authorization: "Bearer tk_caller" }, body: "hello" };
  const answer = await send("/v1/tasks?a=1", init);
  assert.deepEqual([answer.status, await answer.text()], [200, "done"]);
  assert.deepEqual(seen, [{ from: 3, authorization: "Bearer tk_caller", body: "hello" }]);
  const elsewhere = nodeFetch({ incarnation: 8, url, certificate: pair.cert }, sender(3));
  await assert.rejects(elsewhere("/v1/tasks", init), isUnreachable);
  const stranger = nodeFetch(
    { incarnation: 7, url, certificate: pair.cert },
    sender(3, clusterKeyFrom(newClusterKey(), "")),
  );
  await assert.rejects(stranger("/v1/tasks", init), isUnreachable);
  assert.equal(seen.length, 1);
});

test("a server that does not have the key of the cluster, or passes questions on to a node, is sent nothing", async (t) => {
  const impostor = await listening(t, 7, { own: clusterKeyFrom(newClusterKey(), "other") });
  // What the real node answers is a proof of the address that it announced.
  const relay = await listening(t, 7, { announced: "http://127.0.0.1:1" });
  for (const { url, seen } of [impostor, relay]) {
    const send = nodeFetch({ incarnation: 7, url, certificate: null }, sender(3));
    const headers = { authorization: "Bearer tk_caller" };
    for (let count = 0; count < 2; count += 1) await assert.rejects(send("/v1/tasks", { headers }), isUnreachable);
    assert.deepEqual(seen, []);
  }
});

test("a server with another certificate than the node published is sent nothing", { skip: noOpenssl }, async (t) => {
  const authority = makeCertificate(t, "Authority", []);
  const [own, impostor] = ["b", "b"].map((name) => makeCertificate(t, name, ["IP:127.0.0.1"], authority));
  assert.ok(own !== undefined && impostor !== undefined);
  const { url, seen } = await listening(t, 7, { tls: impostor });
  for (const certificate of [own.cert, authority.cert]) {
    const send = nodeFetch({ incarnation: 7, url, certificate }, sender(3));
    const headers = { authorization: "Bearer tk_caller" };
    await assert.rejects(send("/v1/tasks", { headers }), isUnreachable);
  }
  assert.deepEqual(seen, []);
});

test("a path cannot lead a request to another server", async (t) => {
  const { url, seen } = await listening(t, 7);
  const send = nodeFetch({ incarnation: 7, url, certificate: null }, sender(3));
  for (const path of ["//127.0.0.2/x", "http://127.0.0.2/x", "\\\\127.0.0.2\\x"]) {
    await assert.rejects(send(path), (thrown) => thrown instanceof TuttiError && thrown.code === "invalid_input");
  }
  assert.equal((await send("/v1/x")).status, 200);
  assert.equal(seen.length, 1);
});

test("beyond loopback a node is reached only with TLS and a published certificate, unless the person says --insecure", () => {
  const refuses = (url: string, certificate: string | null, insecure = false): boolean => {
    try {
      readNodeUrl({ url, certificate }, { insecure });
      return false;
    } catch (thrown) {
      return thrown instanceof TuttiError && thrown.code === "refused";
    }
  };
  assert.equal(refuses("http://10.0.0.7:7878", null), true);
  assert.equal(refuses("http://node-b:7878", null), true);
  assert.equal(refuses("https://node-b:7878", null), true);
  assert.equal(refuses("https://node-b:7878", null, true), true);
  assert.equal(refuses("http://10.0.0.7:7878", null, true), false);
  assert.equal(refuses("https://node-b:7878", "PEM"), false);
  assert.equal(refuses("http://127.0.0.1:7878", null), false);
  assert.equal(refuses("http://[::1]:7878", null), false);
});
