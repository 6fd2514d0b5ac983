import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";

import { type Kit, openKit, type Replied } from "../../../test/support/http-kit.ts";

let kit: Kit;
before(async () => {
  kit = await openKit();
});
after(() => kit.close());

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const open = (path: string, headers: Record<string, string> = {}): Promise<Replied> =>
  kit.call(path, { headers: { authorization: "", accept: browser, ...headers } });

function assertPage({ headers, text }: Replied): void {
  assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
  assert.match(headers.get("vary") ?? "", /Accept/);
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
  const style = /<style>([^]*?)<\/style>/.exec(text)?.[1] ?? "";
  assert.ok(policy.includes(createHash("sha256").update(style).digest("base64")), "the browser applies the style");
  assert.doesNotMatch(text, /<script|<img|<form|<iframe|src=|https?:\/\//, "nothing is loaded from anywhere");
}

test("a browser that opens the printed address gets a page that says what it is, without a key and without secrets", async () => {
  const page = await open("/");
  assert.equal(page.status, 200);
  assertPage(page);
  assert.match(page.text, /the daemon of Tutti, version \d+\.\d+\.\d+.* It is up/);
  assert.match(page.text, /tutti status[^]*\/openapi\.json/);
  for (const secret of [kit.key, kit.folder]) assert.ok(!page.text.includes(secret));
  const head = await kit.call("/", { method: "HEAD", headers: { authorization: "", accept: browser } });
  assert.deepEqual([head.status, head.text], [200, ""]);
});

test("a browser gets errors as a page with their status, and nothing from the request becomes markup", async () => {
  const missing = await open("/<script>alert(1)</script>");
  assert.equal(missing.status, 404);
  assertPage(missing);
  assert.match(missing.text, /there is nothing at this path/);
  const refused = await open("/v1/tasks/%3Cscript%3E");
  assert.equal(refused.status, 401);
  assertPage(refused);
  assert.equal(refused.headers.get("www-authenticate"), 'Bearer realm="tutti"');
  const folder = await open("/v1/agents?folder=%3Cb%3Ex", { authorization: `Bearer ${kit.key}` });
  assert.equal(folder.status, 422);
  assertPage(folder);
  assert.match(folder.text, /not &lt;b&gt;x/);
});

test("programs get JSON as before, at every path", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html", ""]) {
    for (const path of ["/", "/nowhere"]) {
      const { status, headers } = await open(path, { accept });
      assert.deepEqual([status, headers.get("content-type")], [404, "application/problem+json"], `${accept} ${path}`);
    }
  }
});

test("the Host is checked for the page, too; a link from another site leads to it, and to nothing else", async () => {
  const { host: own } = new URL(kit.http.url);
  const statusOf = async (path: string, { host = own, dest = "document", site = "none" } = {}): Promise<number> => {
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: ${host}`,
      `Accept: ${browser}`,
      `Sec-Fetch-Site: ${site}`,
      "Sec-Fetch-Mode: navigate",
      `Sec-Fetch-Dest: ${dest}`,
      "Connection: close",
    ];
    return Number((await kit.raw(`${lines.join("\r\n")}\r\n\r\n`)).split(" ")[1]);
  };
  const site = "cross-site";
  assert.equal(await statusOf("/"), 200);
  assert.equal(await statusOf("/", { host: "evil.example" }), 421);
  assert.equal(await statusOf("/", { host: "evil.example", site }), 421);
  assert.equal(await statusOf("/", { site }), 200);
  assert.equal(await statusOf("/", { site, dest: "iframe" }), 403);
  assert.equal(await statusOf("/openapi.json", { site }), 403);
});
