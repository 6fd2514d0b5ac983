// Certificates for tests, made by openssl: ones that stand for themselves, and ones of an authority of the test's own.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";

import { type Cleanup, tempFolder } from "./temp-folder.ts";

export interface CertificatePair {
  readonly cert: string;
  readonly key: string;
  readonly files: { readonly cert: string; readonly key: string };
}

const openssl = "openssl";
export const noOpenssl =
  spawnSync(openssl, ["version"]).status === 0 ? false : "there is no openssl to make certificates with";

/** `names` are as openssl writes them, such as `IP:127.0.0.1`. Signed by `authority`, or by itself. */
export function makeCertificate(
  t: Cleanup,
  name: string,
  names: readonly string[],
  authority?: CertificatePair,
): CertificatePair {
  const folder = tempFolder(t, "tutti-cert-");
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const signed = authority === undefined ? [] : ["-CA", authority.files.cert, "-CAkey", authority.files.key];
  const kind = names.length === 0 ? ["basicConstraints=critical,CA:TRUE"] : [`subjectAltName=${names.join(",")}`];
  const made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(" ");
  const named = ["-keyout", files.key, "-out", files.cert, "-subj", `/CN=${name}`];
  const extensions = kind.flatMap((each) => ["-addext", each]);
  execFileSync(openssl, [...made, ...named, ...extensions, ...signed], { stdio: "ignore" });
  return { cert: readFileSync(files.cert, "utf8"), key: readFileSync(files.key, "utf8"), files };
}

/** A port of loopback that nobody uses just now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
