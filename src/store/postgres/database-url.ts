// The URL of the database: what the driver is told of it, how the way there is protected, and what of it is secret.

import { readFileSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";

import { thrownMessage, TuttiError } from "../../protocol/error.ts";

/**
 * - `socket`: a socket file or loopback, which nobody else can listen to.
 * - `verified`: TLS, and the server has shown a certificate that is trusted.
 * - `unverified`: TLS with whoever answers.
 * - `open`: not encrypted.
 */
type DatabaseWay = "socket" | "verified" | "unverified" | "open";

export interface DatabaseUrl {
  /** For the driver: without what is given to it apart. Holds the password. */
  readonly connectionString: string;
  readonly ssl: ConnectionOptions | false | undefined;
  /** Settings of the session that the URL asks for, as PostgreSQL takes them. */
  readonly options: string;
  readonly way: DatabaseWay;
  /** Where it is, for people: host, port and name. Nothing secret. */
  readonly shown: string;
}

/** Modes of libpq that encrypt. All verify the certificate, because whoever can answer in its place owns the nodes. */
const verifying = ["prefer", "require", "verify-ca", "verify-full"] as const;
const modes = ["disable", "no-verify", ...verifying];
const ours = new Set(["sslmode", "ssl", "sslrootcert", "sslcert", "sslkey", "options", "uselibpqcompat"]);
const form = /^(postgres(?:ql)?:\/\/)([^?#]*)(?:\?([^#]*))?$/i;
const needed = "give postgres://USER:PASSWORD@HOST:PORT/NAME";

/** Throws `invalid_input`; the message never shows the URL. */
export function readDatabaseUrl(url: string): DatabaseUrl {
  const [, scheme, rest = "", query = ""] = form.exec(url.trim()) ?? [];
  if (scheme === undefined) throw new TuttiError("invalid_input", `the URL of the database cannot be used; ${needed}`);
  const [authority = "", ...path] = rest.split("/");
  const place = authority.slice(authority.lastIndexOf("@") + 1);
  const parameters = new URLSearchParams(query);
  const host = decoded(parameters.get("host") ?? hostIn(place));
  const port = parameters.get("port") ?? /:(\d+)$/.exec(place)?.[1] ?? "5432";
  const isNear = host === "" || host.startsWith("/") || isLoopbackHost(host);
  const ssl = tlsOf(parameters);
  const kept = [...parameters].filter(([name]) => !ours.has(name));
  const driver = `${scheme}${rest}${kept.length === 0 ? "" : `?${new URLSearchParams(kept).toString()}`}`;
  if (!isUsable(driver)) throw new TuttiError("invalid_input", `the URL of the database cannot be used; ${needed}`);
  return {
    connectionString: driver,
    ssl,
    options: parameters.get("options") ?? "",
    way: isNear ? "socket" : wayOf(ssl),
    shown: `${decoded(path.join("/")) || "the default database"} at ${host === "" || host.startsWith("/") ? "a socket of this machine" : `${host}:${port}`}`,
  };
}

/** What to say about the way to the database before anything is sent; undefined when it is protected. */
export function wayWarning({ way, shown }: DatabaseUrl): string | undefined {
  const advice = "add sslmode=verify-full to its URL, and sslrootcert=FILE for a certificate authority of your own";
  if (way === "open") {
    return `the database ${shown} is reached over the network without TLS: everybody on the way can read and change everything; ${advice}`;
  }
  if (way === "unverified") {
    return `the certificate of the database ${shown} is not verified: whoever can answer in its place owns this node; ${advice}`;
  }
  return undefined;
}

/** The URL and its password, as written and decoded: they must show nowhere. */
export function databaseSecrets(url: string): { readonly name: string; readonly value: string }[] {
  const given = url.trim();
  const authority = /^[a-z]+:\/\/([^?#]*)/i.exec(given)?.[1] ?? "";
  const user = authority.slice(0, Math.max(0, authority.lastIndexOf("@")));
  const colon = user.indexOf(":");
  const query = new URLSearchParams(given.split("?").slice(1).join("?"));
  const passwords = [colon === -1 ? "" : user.slice(colon + 1), query.get("password") ?? ""].flatMap((each) => [
    each,
    decoded(each),
  ]);
  const values = [
    { name: "database url", value: given },
    ...[...new Set(passwords)].map((value) => ({ name: "database password", value })),
  ];
  return values.filter(({ value }) => value !== "");
}

function tlsOf(parameters: URLSearchParams): ConnectionOptions | false | undefined {
  const mode = parameters.get("sslmode") ?? (parameters.get("ssl") === "true" ? "verify-full" : undefined);
  const files = ["sslrootcert", "sslcert", "sslkey"].some((name) => parameters.has(name));
  // The driver then looks at PGSSLMODE.
  if (mode === undefined && !files) return undefined;
  if (mode !== undefined && !modes.includes(mode)) {
    throw new TuttiError("invalid_input", `sslmode in the URL of the database must be one of ${modes.join(", ")}`);
  }
  if (mode === "disable") return false;
  const root = parameters.get("sslrootcert");
  return {
    ...(root === null || root === "system" ? {} : { ca: fileAt("sslrootcert", root) }),
    ...partOf("cert", "sslcert", parameters),
    ...partOf("key", "sslkey", parameters),
    rejectUnauthorized: mode !== "no-verify",
    // An authority of one's own vouches for its servers by whatever name.
    ...(mode === "verify-ca" && root !== null && root !== "system" ? { checkServerIdentity: () => undefined } : {}),
  };
}

function partOf(part: "cert" | "key", name: string, parameters: URLSearchParams): ConnectionOptions {
  const path = parameters.get(name);
  return path === null ? {} : { [part]: fileAt(name, path) };
}

function fileAt(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (thrown) {
    const message = `${name} of the database cannot be read: ${thrownMessage(thrown)}`;
    throw new TuttiError("invalid_input", message, { cause: thrown });
  }
}

function wayOf(ssl: ConnectionOptions | false | undefined): DatabaseWay {
  if (ssl === undefined) {
    const mode = process.env["PGSSLMODE"] ?? "";
    if (mode === "no-verify") return "unverified";
    return verifying.some((each) => each === mode) ? "verified" : "open";
  }
  if (ssl === false) return "open";
  return ssl.rejectUnauthorized === false ? "unverified" : "verified";
}

function hostIn(place: string): string {
  return /^\[(.*)\]/.exec(place)?.[1] ?? place.replace(/:\d*$/, "");
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopbackHost(host: string): boolean {
  const family = isIP(host);
  return host === "localhost" || (family !== 0 && loopback.check(host, family === 4 ? "ipv4" : "ipv6"));
}

/** As the driver reads it, which names no host for a socket file. */
function isUsable(url: string): boolean {
  return URL.canParse(url) || URL.canParse(url.replace("@/", "@none/"));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
