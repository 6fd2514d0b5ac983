// The certificate and key a daemon is given as files, read and checked before anything listens.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

import { TuttiError } from "../../protocol/error.ts";

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export function readTls(files: TlsFiles): TlsFiles {
  const read = (path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw new TuttiError("invalid_input", `${path} cannot be read: ${why}`, { cause: thrown });
    }
  };
  const tls = { cert: read(files.cert), key: read(files.key) };
  try {
    createSecureContext(tls);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `${files.cert} and ${files.key} cannot be used for TLS: ${why}; give a certificate and its key, both PEM`;
    throw new TuttiError("invalid_input", message, { cause: thrown });
  }
  return tls;
}

/** The names a certificate was issued for, without those that stand for many. */
export function namesIn(certificate: string): string[] {
  const { subjectAltName = "" } = new X509Certificate(certificate);
  return subjectAltName.split(", ").flatMap((entry) => {
    const [, kind, name = ""] = /^(DNS|IP Address):([^"]+)$/.exec(entry) ?? [];
    if (kind === undefined || name.includes("*")) return [];
    // In the form in which a request names it.
    return [new URL(`http://${name.includes(":") ? `[${name}]` : name}`).hostname];
  });
}
