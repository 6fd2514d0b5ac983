import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { pinnedFetch } from "./pinned-fetch.ts";
import { certificateNames, readTls } from "./tls-files.ts";

const openssl = "openssl";
const skip = spawnSync(openssl, ["version"]).status === 0 ? false : "there is no openssl to make certificates with";

interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly files: { readonly cert: string; readonly key: string };
}

function certificates(t: TestContext): (name: string, ...names: readonly string[]) => Pair {
  const folder = tempFolder(t);
  return (name, ...names) => {
    const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
    const out = ["-keyout", files.key, "-out", files.cert, "-days", "2", "-subj", `/CN=${name}`];
    const alt = ["-addext", `subjectAltName=${names.join(",")}`];
    const made = [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      ...out,
      ...alt,
    ];
    execFileSync(openssl, made, { stdio: "ignore" });
    return { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8"), files };
  };
}

async function serving(t: TestContext, { cert, key }: Pair): Promise<{ url: string; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    heard.push(`${request.method} ${request.headers.authorization}`);
    if (request.url === "/empty") return response.writeHead(204).end();
    if (request.url === "/slow") return response.writeHead(200).write("begun");
    request.pipe(response.writeHead(200, { "x-test": "yes" }));
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const headers = { authorization: "Bearer secret" };

test("a service with the known certificate is trusted, whatever name the certificate has", { skip }, async (t) => {
  const own = certificates(t)("own", "DNS:tutti.example");
  const { url } = await serving(t, own);
  const send = pinnedFetch(own.cert);
  const body = "ü".repeat(200_000);
  const response = await send(`${url}/echo`, { method: "POST", headers, body });
  assert.deepEqual([response.status, response.headers.get("x-test"), await response.text()], [200, "yes", body]);
  assert.equal((await send(`${url}/empty`, { headers })).status, 204);
});

test("a service with another certificate is not sent the key, even if the name is the same", { skip }, async (t) => {
  const make = certificates(t);
  const own = make("own", "DNS:tutti.example");
  const other = make("other", "DNS:tutti.example", "IP:127.0.0.1");
  const { url, heard } = await serving(t, other);
  await assert.rejects(pinnedFetch(own.cert)(url, { headers }), TypeError);
  assert.deepEqual(heard, []);
});

test("a reply that never ends can be aborted", { skip }, async (t) => {
  const own = certificates(t)("own", "IP:127.0.0.1");
  const { url } = await serving(t, own);
  const leaving = new AbortController();
  const response = await pinnedFetch(own.cert)(`${url}/slow`, { headers, signal: leaving.signal });
  const reader = response.body?.getReader();
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), "begun");
  const rest = reader?.read();
  leaving.abort();
  await assert.rejects(async () => rest);
});

test("the names in a certificate are read as hosts, without wildcards", { skip }, (t) => {
  const { cert } = certificates(t)("own", "DNS:Tutti.example", "DNS:*.wild.example", "IP:192.0.2.7", "IP:::1");
  assert.deepEqual(certificateNames(cert), ["tutti.example", "192.0.2.7", "[::1]"]);
});

test("a certificate and a key that do not match, or cannot be read, are refused", { skip }, (t) => {
  const make = certificates(t);
  const [one, two] = [make("one", "DNS:a"), make("two", "DNS:a")];
  assert.deepEqual(readTls(one.files), { cert: one.cert, key: one.key });
  const mixed = { cert: one.files.cert, key: two.files.key };
  assert.throws(() => readTls(mixed), { code: "invalid_input", message: /cannot be used for TLS/ });
  assert.throws(() => readTls({ ...one.files, key: "/nowhere" }), {
    code: "invalid_input",
    message: /cannot be read/,
  });
});
