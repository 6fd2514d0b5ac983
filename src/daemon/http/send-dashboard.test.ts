import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";

import { type Kit, openKit, type Replied } from "../../../test/support/http-kit.ts";

const folder = mkdtempSync(join(tmpdir(), "tutti-web-"));
const web = join(folder, "web");
const page = '<!doctype html><title>Tutti</title><script type="module" src="/assets/index-1.js"></script>';
const script = `console.log("${"here ".repeat(200)}");`;

let kit: Kit;
before(async () => {
  mkdirSync(join(web, "assets"), { recursive: true });
  writeFileSync(join(web, "index.html"), page);
  writeFileSync(join(web, "favicon.svg"), "<svg/>");
  writeFileSync(join(web, "assets", "index-1.js"), script);
  writeFileSync(join(web, "assets", "notes.txt"), "no part of it");
  writeFileSync(join(folder, "secret.js"), "outside");
  symlinkSync(join(folder, "secret.js"), join(web, "assets", "link.js"));
  kit = await openKit({ http: { web } });
});
after(async () => {
  await kit.close();
  rmSync(folder, { recursive: true, force: true });
});

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const open = (path: string, headers: Record<string, string> = {}): Promise<Replied> =>
  kit.call(path, { headers: { authorization: "", accept: browser, ...headers } });
/** As it is, without what fetch does to a path. */
const statusOf = async (path: string, lines: readonly string[] = []): Promise<number> => {
  const { host } = new URL(kit.http.url);
  const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, "Connection: close", ...lines];
  return Number((await kit.raw(`${head.join("\r\n")}\r\n\r\n`)).split(" ")[1]);
};

test("a browser gets the page at every path where the API has nothing, so that links into it can be opened", async () => {
  for (const path of ["/", "/goals/gol_1", "/tasks/tsk_1_2?tab=diff", "/fleet", "/v1x", "/a/b/c/d"]) {
    const { status, headers, text } = await open(path);
    assert.deepEqual([status, headers.get("content-type"), text], [200, "text/html; charset=utf-8", page], path);
    assert.equal(headers.get("cache-control"), "no-cache");
  }
  const head = await kit.call("/", { method: "HEAD", headers: { authorization: "", accept: browser } });
  assert.deepEqual([head.status, head.text], [200, ""]);
});

test("the page may load scripts, styles and data of this origin alone, and nobody may frame it", async () => {
  const { headers } = await open("/");
  assert.equal(
    headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
  assert.equal(headers.get("set-cookie"), null);
});

test("files whose names have a hash are kept for good, the others are asked about again", async () => {
  const asset = await open("/assets/index-1.js", { accept: "*/*" });
  assert.deepEqual([asset.status, asset.text], [200, script]);
  assert.equal(asset.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(asset.headers.get("content-type"), "text/javascript; charset=utf-8");
  const icon = await open("/favicon.svg", { accept: "image/*" });
  assert.deepEqual([icon.status, icon.headers.get("cache-control")], [200, "no-cache"]);
  const again = await open("/favicon.svg", { "if-none-match": icon.headers.get("etag") ?? "" });
  assert.deepEqual([again.status, again.text], [304, ""]);
});

test("a browser that takes gzip gets it, and another one does not", async () => {
  const raw = (encoding: string): Promise<string> =>
    kit.raw(
      `GET /assets/index-1.js HTTP/1.1\r\nHost: ${new URL(kit.http.url).host}\r\nAccept-Encoding: ${encoding}\r\nConnection: close\r\n\r\n`,
    );
  const zipped = await raw("br, gzip;q=0.8");
  assert.match(zipped, /\r\nContent-Encoding: gzip\r\n/i);
  const body = Buffer.from(zipped.slice(zipped.indexOf("\r\n\r\n") + 4), "latin1");
  assert.equal(gunzipSync(body).toString(), script);
  for (const refusing of ["identity", "gzip;q=0", "gzip;q=0.0"]) {
    assert.doesNotMatch(await raw(refusing), /Content-Encoding/i, refusing);
  }
});

test("nothing outside of the folder is served, whatever the path says, nor a link in it, nor a file of another kind", async () => {
  const hostile = [
    "/assets/../../secret.js",
    "/assets/..%2f..%2fsecret.js",
    "/assets/%2e%2e/%2e%2e/secret.js",
    "/assets//index-1.js",
    "/assets/index-1.js/",
    "/assets/index-1.js%00",
    "/assets\\index-1.js",
    "//assets/index-1.js",
    "/assets/link.js",
    "/assets/notes.txt",
    "/assets/",
    "/assets",
    "/index.html",
    "/secret.js",
    "/../secret.js",
  ];
  for (const path of hostile) assert.notEqual(await statusOf(path), 200, path);
  for (const path of ["/assets/link.js", "/assets/gone-2.js"]) assert.equal((await open(path)).status, 404, path);
});

test("the API is reached as before: programs get JSON, and errors of the API are not hidden by the page", async () => {
  for (const path of ["/", "/goals/gol_1"]) {
    const { status, headers } = await open(path, { accept: "application/json" });
    assert.deepEqual([status, headers.get("content-type")], [404, "application/problem+json"]);
  }
  assert.equal((await open("/v1/status")).status, 401);
  assert.equal((await open("/v1/nothing")).status, 404);
  assert.equal((await open("/openapi.json")).headers.get("content-type"), "application/json");
  assert.equal((await kit.call("/goals", { method: "POST", headers: { accept: browser } })).status, 404);
});

test("a link from another site opens the page, and such a site cannot frame it, load its files or use another Host", async () => {
  const from = (dest: string, mode = "navigate"): string[] => [
    `Accept: ${browser}`,
    "Sec-Fetch-Site: cross-site",
    `Sec-Fetch-Mode: ${mode}`,
    `Sec-Fetch-Dest: ${dest}`,
  ];
  assert.equal(await statusOf("/goals/gol_1", from("document")), 200);
  assert.equal(await statusOf("/goals/gol_1", from("iframe")), 403);
  assert.equal(await statusOf("/assets/index-1.js", from("script", "no-cors")), 403);
  assert.equal(await statusOf("/v1/status", from("document")), 403);
  const rebound = await kit.raw(
    `GET / HTTP/1.1\r\nHost: evil.example\r\nAccept: ${browser}\r\nConnection: close\r\n\r\n`,
  );
  assert.match(rebound, /^HTTP\/1\.1 421 /);
});

test("a new build is served without a restart, and the simple page when there is none any more", async () => {
  writeFileSync(join(web, "assets", "index-22.js"), "new");
  writeFileSync(join(web, "index.html"), `${page}<!-- new -->`);
  assert.match((await open("/")).text, /new/);
  assert.equal((await open("/assets/index-22.js", { accept: "*/*" })).text, "new");
  rmSync(web, { recursive: true });
  const { status, text } = await open("/");
  assert.equal(status, 200);
  assert.match(text, /npm run build:web/);
  assert.equal((await open("/goals/gol_1")).status, 404);
  assert.equal(
    await statusOf("/goals/gol_1", [
      "Accept: text/html",
      "Sec-Fetch-Site: cross-site",
      "Sec-Fetch-Mode: navigate",
      "Sec-Fetch-Dest: document",
    ]),
    403,
  );
});
