import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { inspect } from "node:util";

import { type CertificatePair, freePort, makeCertificate, noOpenssl } from "../../../test/support/certificates.ts";
import { startPostgres } from "../../../test/support/postgres-server.ts";
import type { TuttiError } from "../../protocol/error.ts";
import { ask, connectTo } from "./database-connection.ts";
import { storageError } from "./storage-error.ts";

const options = { skip: noOpenssl };
let authority: CertificatePair;
let other: CertificatePair;
let port: number;
const ends: (() => unknown)[] = [];
const wholeFile = { after: (end: () => unknown) => void ends.push(end) };
after(() => ends.forEach((end) => end()));

before(async () => {
  if (noOpenssl !== false) return;
  authority = makeCertificate(wholeFile, "Authority", []);
  other = makeCertificate(wholeFile, "Other", []);
  const { cert, key } = makeCertificate(wholeFile, "database", ["IP:127.0.0.1"], authority);
  port = await freePort();
  startPostgres({ tls: { port, cert, key } });
});

const urlWith = (host: string, parameters: Record<string, string>): string =>
  `postgres://tutti:hunter2secret@${host}:${port}/postgres?${new URLSearchParams(parameters).toString()}`;

async function isEncrypted(t: TestContext, url: string): Promise<boolean> {
  const client = await connectTo({ url, schema: "public" });
  t.after(() => client.end());
  const [row] = await ask(client, "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
  return row?.["ssl"] === 1;
}

async function refusal(url: string): Promise<TuttiError> {
  const thrown = await connectTo({ url, schema: "public" }).then(
    (client) => client.end().then(() => assert.fail("it was let in")),
    (error: unknown) => error,
  );
  return storageError(thrown);
}

test("sslmode=verify-full takes a server whose certificate comes from a private authority", options, async (t) => {
  const ca = authority.files.cert;
  assert.equal(await isEncrypted(t, urlWith("127.0.0.1", { sslmode: "verify-full", sslrootcert: ca })), true);
  assert.equal(await isEncrypted(t, urlWith("127.0.0.1", { sslmode: "disable" })), false);
  assert.equal(await isEncrypted(t, urlWith("127.0.0.1", { sslmode: "no-verify" })), true);
});

test("a server that another authority vouches for is refused, and the error shows no password", options, async () => {
  const without = [{ sslmode: "verify-full" }, { sslmode: "require" }, { sslmode: "verify-ca" }];
  const withOther = { sslmode: "verify-full", sslrootcert: other.files.cert };
  for (const parameters of [...without, withOther]) {
    const error = await refusal(urlWith("127.0.0.1", parameters));
    assert.equal(error.code, "unauthorized");
    assert.match(error.message, /sslrootcert/);
    assert.doesNotMatch(inspect(error, { depth: 10 }), /hunter2secret/);
  }
});

test("verify-full compares the name of the server, and verify-ca does not", options, async (t) => {
  const sslrootcert = authority.files.cert;
  // The certificate names the address alone.
  const error = await refusal(urlWith("localhost", { sslmode: "verify-full", sslrootcert }));
  assert.match(error.message, /localhost/);
  assert.equal(await isEncrypted(t, urlWith("localhost", { sslmode: "verify-ca", sslrootcert })), true);
});
