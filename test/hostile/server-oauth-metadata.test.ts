// An MCP server that a person agreed to names, in what it says of its login, addresses that Tutti would then request.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { keepLogin, readLogin } from "../../src/mcp/kept-logins.ts";
import { logIn } from "../../src/mcp/oauth-login.ts";
import type { Resolve } from "../../src/mcp/reached-addresses.ts";
import { openServerPool } from "../../src/mcp/server-pool.ts";
import type { HttpServer } from "../../src/protocol/invocation/mcp-servers.ts";
import { tempFolder } from "../support/temp-folder.ts";

const hash = "d".repeat(64);
const signal = AbortSignal.timeout(240_000);

interface Site {
  readonly url: string;
  /** The method and the path of each request that it got. */
  readonly got: string[];
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function site(t: TestContext, answer: Answer): Promise<Site> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    got.push(`${request.method} ${request.url}`);
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, got };
}

/** Answers every address with what is said of it, and everything else with 404. */
const saying =
  (pages: () => Record<string, unknown>): Answer =>
  ({ url = "" }, response) => {
    const page = pages()[url];
    if (page === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(page));
  };

interface Says {
  readonly challenge?: string;
  readonly pages?: Record<string, unknown>;
}

/** A server that wants a login for everything. What it says may change at any time. */
async function hostileServer(t: TestContext, says: () => Says): Promise<Site> {
  const pages = saying(() => says().pages ?? {});
  return site(t, (request, response) => {
    if (request.url !== "/mcp") return pages(request, response);
    const { challenge } = says();
    const more = challenge === undefined ? "" : ` resource_metadata="${challenge}"`;
    response.writeHead(401, { "www-authenticate": `Bearer scope="x"${more}` }).end();
  });
}

function metadata(issuer: string, at: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${at}/authorize`,
    token_endpoint: `${at}/token`,
    registration_endpoint: `${at}/register`,
    response_types_supported: ["code"],
  };
}

const entryOf = (url: string, more: Partial<HttpServer> = {}): HttpServer => ({
  type: "http",
  url,
  headers: {},
  timeout_ms: 240_000,
  ...more,
});

/** Starts the server as a task would while nobody looks. */
async function unattended(t: TestContext, state: string, entry: HttpServer, resolve?: Resolve): Promise<void> {
  const sandbox = { confined: false, reason: "", advice: "" } as const;
  const pool = openServerPool({ state, sandbox, toolchains: [], resolve });
  t.after(() => pool.close());
  await pool.use({ name: "notes", hash, entry, roots: [] }, signal, async () => undefined);
}

const byItself = { client_id: "me", client_secret: "s3cret", grant: "client_credentials" } as const;

test("while nobody watches, a server's metadata makes Tutti ask nobody but the server itself (14)", async (t) => {
  const victim = await site(t, (_, response) => void response.writeHead(200).end("{}"));
  let says: Says = {};
  const server = await hostileServer(t, () => says);
  const own = (path: string): string => `${server.url}${path}`;
  const cases: Record<string, Says> = {
    "the metadata is elsewhere": { challenge: `${victim.url}/metadata` },
    "the issuer is elsewhere": {
      challenge: own("/prm"),
      pages: { "/prm": { resource: own("/mcp"), authorization_servers: [`${victim.url}/as`] } },
    },
    "the endpoints are elsewhere": {
      pages: { "/.well-known/oauth-authorization-server": metadata(server.url, `${victim.url}/admin`) },
    },
  };
  for (const [name, said] of Object.entries(cases)) {
    says = said;
    const state = tempFolder(t);
    for (const oauth of [undefined, { client_id: "me", grant: "authorization_code" as const }, byItself]) {
      const entry = entryOf(own("/mcp"), oauth === undefined ? {} : { oauth });
      await assert.rejects(unattended(t, state, entry), name);
    }
    // A login of an earlier version does not tell who was confirmed.
    const kept = {
      client: { client_id: "c" },
      tokens: { access_token: "a", token_type: "bearer", refresh_token: "r" },
    };
    keepLogin(state, hash, JSON.stringify(kept));
    await assert.rejects(unattended(t, state, entryOf(own("/mcp"))), name);
  }
  assert.deepEqual(victim.got, []);
});

test("a secret goes to the issuer that the settings name, whatever the server says", async (t) => {
  const pages = saying(() => ({
    "/.well-known/oauth-authorization-server/ours": { ...metadata(`${issuer.url}/ours`, `${issuer.url}/ours`) },
    "/.well-known/oauth-authorization-server/theirs": { ...metadata(`${issuer.url}/theirs`, `${issuer.url}/theirs`) },
    "/ours/token": { access_token: "a", token_type: "bearer" },
  }));
  const issuer: Site = await site(t, pages);
  const server: Site = await hostileServer(t, () => ({
    pages: {
      "/.well-known/oauth-protected-resource/mcp": {
        resource: `${server.url}/mcp`,
        authorization_servers: [`${issuer.url}/theirs`],
      },
    },
  }));
  const oauth = { ...byItself, issuer: `${issuer.url}/ours` };
  await assert.rejects(unattended(t, tempFolder(t), entryOf(`${server.url}/mcp`, { oauth })));
  assert.deepEqual(
    new Set(issuer.got),
    new Set(["GET /.well-known/oauth-authorization-server/ours", "POST /ours/token"]),
  );
});

test("a client is registered only while a person logs in", async (t) => {
  const server = await hostileServer(t, () => ({
    pages: { "/.well-known/oauth-authorization-server": metadata(server.url, server.url) },
  }));
  await assert.rejects(unattended(t, tempFolder(t), entryOf(`${server.url}/mcp`)), { code: "unauthorized" });
  assert.deepEqual(new Set(server.got), new Set(["POST /mcp"]), "nothing but the server itself was asked");
});

test("a login asks a person before anything is sent elsewhere, and later goes only where they agreed to", async (t) => {
  const victim = await site(t, (_, response) => void response.writeHead(200).end("{}"));
  let token: () => { status: number; page?: unknown; location?: string } = () => ({
    status: 200,
    page: { access_token: "a", token_type: "bearer", refresh_token: "r" },
  });
  const pages = saying(() => ({
    "/.well-known/oauth-authorization-server/as": metadata(`${issuer.url}/as`, issuer.url),
    "/register": { client_id: "c", redirect_uris: ["http://127.0.0.1/callback"] },
  }));
  const issuer: Site = await site(t, (request, response) => {
    if (request.url !== "/token") return pages(request, response);
    const { status, page, location } = token();
    response.writeHead(status, { "content-type": "application/json", ...(location && { location }) });
    response.end(JSON.stringify(page ?? {}));
  });
  let authorization = `${issuer.url}/as`;
  const server: Site = await hostileServer(t, () => ({
    pages: {
      "/.well-known/oauth-protected-resource/mcp": {
        resource: `${server.url}/mcp`,
        authorization_servers: [authorization],
      },
    },
  }));
  const state = tempFolder(t);
  const place = { state, server: hash, url: `${server.url}/mcp`, settings: undefined };
  const asBrowser = async (address: string): Promise<void> => {
    const back = new URL(new URL(address).searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("state", new URL(address).searchParams.get("state") ?? "");
    back.searchParams.set("code", "code");
    await (await fetch(back)).text();
  };

  const shown: string[] = [];
  const refusing = {
    onUrl: asBrowser,
    signal,
    confirm: async ({ issuer: named }: { readonly issuer: string }) => {
      shown.push(named);
      return false;
    },
  };
  await assert.rejects(logIn(place, refusing), { code: "canceled" });
  await assert.rejects(logIn(place, { ...refusing, issuer: victim.url }), { code: "refused" });
  assert.deepEqual(shown, [`${issuer.url}/as`]);
  assert.deepEqual(issuer.got, []);

  await logIn(place, { ...refusing, issuer: `${issuer.url}/as` });
  assert.deepEqual(issuer.got, ["GET /.well-known/oauth-authorization-server/as", "POST /register", "POST /token"]);
  assert.match(readLogin(state, hash) ?? "", /"confirmed"/);

  // From now on the server says something else, and the confirmed issuer leads elsewhere.
  authorization = `${victim.url}/as`;
  issuer.got.length = 0;
  await assert.rejects(unattended(t, state, entryOf(place.url)));
  assert.deepEqual(new Set(issuer.got), new Set(["POST /token"]), "the token is renewed where it came from");
  token = () => ({ status: 307, location: `${victim.url}/token` });
  await assert.rejects(unattended(t, state, entryOf(place.url)));
  token = () => ({ status: 307, location: "/register" });
  await assert.rejects(unattended(t, state, entryOf(place.url)));
  assert.equal(issuer.got.filter((each) => each === "POST /register").length, 0);
  assert.deepEqual(victim.got, []);
});

test("a name that leads into this machine or its network is not followed, and nobody looks it up a second time", async (t) => {
  const victim = await site(t, (_, response) => void response.writeHead(200).end("{}"));
  const { port } = new URL(victim.url);
  const state = tempFolder(t);
  const asked: string[] = [];
  const leadingTo =
    (...addresses: string[]): Resolve =>
    async (name) => {
      asked.push(name);
      return [{ address: addresses.shift() ?? "10.0.0.1", family: 4 }];
    };
  for (const address of ["127.0.0.1", "0.0.0.0", "169.254.169.254"]) {
    const entry = entryOf(`https://mcp.example:${port}/mcp`);
    await assert.rejects(unattended(t, state, entry, leadingTo(address)), new RegExp(address), address);
  }
  assert.deepEqual(victim.got, []);
  asked.length = 0;
  // The first answer is judged and used; the second one would lead elsewhere.
  await assert.rejects(
    unattended(t, join(state, "other"), entryOf(`http://localhost:${port}/mcp`), leadingTo("127.0.0.1")),
  );
  assert.ok(victim.got.length > 0, "the judged address was reached");
  assert.equal(asked[0], "localhost");
});
