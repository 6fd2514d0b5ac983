// Turns what PostgreSQL and the way to it throw into errors that say what to do; none of them shows the address with its password.

import { TuttiError } from "../../protocol/error.ts";
import { fencedCode, forgottenCode } from "./commit-sql.ts";

/** SQLSTATE of PostgreSQL, or the code of a socket error; empty when there is none. */
function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

/** The connection is gone or the server is not ready: the same call may be made again on another connection. */
export function isLostConnection(thrown: unknown): boolean {
  if (thrown instanceof TuttiError) return false;
  const code = codeOf(thrown);
  // The driver gives its own errors no code.
  if (code === "")
    return thrown instanceof Error && /timeout|Connection|Client (?:was|has)|socket/i.test(thrown.message);
  // 08: connection; 57P0x: the server stops or starts; 53: no room, no more connections; 40: it was not this one's turn.
  return /^(?:08|57P0|53|40)/.test(code) || /^E[A-Z]+$/.test(code);
}

/** The certificate of the server was refused, or it has none. */
function isTlsProblem(code: string, message: string): boolean {
  return /CERT|ERR_TLS|ERR_SSL|UNABLE_TO_VERIFY/.test(code) || message.includes("does not support SSL");
}

export function storageError(thrown: unknown): TuttiError {
  if (thrown instanceof TuttiError) return thrown;
  const code = codeOf(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === fencedCode) return fencedError();
  if (code === forgottenCode) {
    const told = `the database has lost commits that it had acknowledged, as after a failover to a copy that was behind; what they recorded is gone, and this node joins anew (${message})`;
    return new TuttiError("corrupt", told, { cause: thrown, details: { forgotten: true } });
  }
  if (/^28|^3D|^42501/.test(code)) {
    return new TuttiError(
      "unauthorized",
      `the database does not let Tutti in: ${message}; check its address and rights`,
      {
        cause: thrown,
      },
    );
  }
  if (isTlsProblem(code, message)) {
    const told = `the database cannot be trusted: ${message}; check sslmode and sslrootcert in its URL, and the certificate of the server`;
    return new TuttiError("unauthorized", told, { cause: thrown });
  }
  if (isLostConnection(thrown)) {
    return new TuttiError("unreachable", `the database cannot be reached (${code || message}); check its address`, {
      cause: thrown,
    });
  }
  return new TuttiError("io", `the database refused a write or a read: ${message}`, { cause: thrown });
}

/** The lease of this node ended, and the others have taken over its trees. */
export function fencedError(): TuttiError {
  const message = "this node was declared dead because its lease ended, so it writes nothing more and joins anew";
  // Whoever waited for a commit does not know whether it was the last one that was taken.
  return new TuttiError("locked", message, { retry: "unknown", details: { fenced: true } });
}

/** For writes that are kept and sent again. */
export function awayError(thrown: unknown): TuttiError {
  const code = codeOf(thrown) || (thrown instanceof Error ? thrown.message : String(thrown));
  const message = `the database cannot be reached (${code}); the work goes on by itself when it is back. Nothing that was acknowledged is lost`;
  return new TuttiError("busy", message, { cause: thrown });
}
