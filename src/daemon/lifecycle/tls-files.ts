// The certificate and key files a daemon was given, read and checked before it listens.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";

import { TuttiError } from "../../protocol/error.ts";

/** Paths, or the contents of the files at them. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export function readTls(files: TlsFiles): TlsFiles {
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

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("invalid_input", `${path} cannot be read: ${why}`, { cause: thrown });
  }
}

/** The hosts a certificate was issued for, as a URL writes them. Wildcards are left out. */
export function certificateNames(certificate: string): string[] {
  const { subjectAltName = "" } = new X509Certificate(certificate);
  return subjectAltName.split(", ").flatMap((entry) => {
    const [, kind, name = ""] = /^(DNS|IP Address):([^"]+)$/.exec(entry) ?? [];
    if (kind === undefined || name.includes("*")) return [];
    return [new URL(`http://${name.includes(":") ? `[${name}]` : name}`).hostname];
  });
}
