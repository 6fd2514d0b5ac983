// Decides which daemon elsewhere a command works with, and refuses to send its key where it does not belong.
import { readFileSync } from "node:fs";
import { BlockList, isIP } from "node:net";

import { TuttiError } from "../../protocol/error.ts";
import { type Contexts, findContext, localName } from "./contexts.ts";

export interface TargetOptions {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly context?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly state?: string | undefined;
}

export interface Target {
  readonly url: string;
  readonly key: string;
}

export interface TargetSources {
  readonly env: NodeJS.ProcessEnv;
  readonly contexts: () => Contexts;
}

interface Named {
  readonly url: string;
  /** Undefined when whoever named the daemon gave no key for it. */
  readonly key: string | undefined;
  readonly insecure: boolean;
}

/**
 * Undefined when the command works on this machine. What is given with the command goes first, then the environment, then
 * the context in use. A state folder is on this machine, so naming one goes before the context in use.
 */
export function findTarget(options: TargetOptions, sources: TargetSources): Target | undefined {
  const named = namedDaemon(options, sources);
  if (named === undefined) {
    if (options.key === undefined && options.keyFile === undefined) return undefined;
    throw new TuttiError("usage", "a key is for a daemon elsewhere; name it with --url or --context, too");
  }
  const url = checkUrl(named.url, named.insecure || options.insecure === true);
  const key = (options.key ?? fromFile(options.keyFile) ?? named.key ?? "").trim();
  if (key === "") {
    const message = `there is no key for ${url}; give one with --key-file FILE or in TUTTI_KEY, or keep it with \`tutti context add\``;
    throw new TuttiError("unauthorized", message);
  }
  if (!/^[\x21-\x7e]+$/.test(key)) throw new TuttiError("invalid_input", "the key has characters that no key has");
  return { url, key };
}

/** The address of the daemon elsewhere that would be used; undefined when it is this machine. */
export function namedUrl(options: TargetOptions, sources: TargetSources): string | undefined {
  return namedDaemon(options, sources)?.url;
}

function namedDaemon(options: TargetOptions, { env, contexts }: TargetSources): Named | undefined {
  const { url, context, state } = options;
  if (context !== undefined && url !== undefined) {
    throw new TuttiError("usage", "give either --url or --context, and not both");
  }
  if (state !== undefined && (url !== undefined || (context !== undefined && context !== localName))) {
    throw new TuttiError(
      "usage",
      "--state names a folder of this machine; leave it out to work with a daemon elsewhere",
    );
  }
  if (context !== undefined) return fromContext(context, contexts);
  if (url !== undefined) return { url, key: keyFor(url, env), insecure: false };
  if (state !== undefined) return undefined;
  const { TUTTI_URL = "", TUTTI_STATE = "" } = env;
  if (TUTTI_URL !== "") return { url: TUTTI_URL, key: env["TUTTI_KEY"], insecure: false };
  if (TUTTI_STATE !== "") return undefined;
  const { current } = contexts();
  return current === undefined ? undefined : fromContext(current, contexts);
}

function fromContext(name: string, contexts: () => Contexts): Named | undefined {
  if (name === localName) return undefined;
  const { url, key, key_file, insecure = false } = findContext(contexts(), name);
  return { url, key: key ?? fromFile(key_file), insecure };
}

/** The key in the environment belongs to the address in the environment, if there is one. */
function keyFor(url: string, { TUTTI_URL = "", TUTTI_KEY }: NodeJS.ProcessEnv): string | undefined {
  return TUTTI_URL === "" || originOf(TUTTI_URL) === originOf(url) ? TUTTI_KEY : undefined;
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function fromFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8").slice(0, 4_096);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TuttiError("not_found", `the key file ${path} cannot be read: ${why}`, { cause: thrown });
  }
}

/** The key goes with every request, so the address must be one that keeps it from others. */
export function checkUrl(text: string, insecure: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TuttiError("usage", `${text} is not the address of a daemon; write it like https://tutti.example:7878`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TuttiError(
      "usage",
      "the address of a daemon has no user name, query or fragment; give the key with --key-file",
    );
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !insecure) {
    const message = `${url.origin} is not encrypted, and anybody on the way could read the key; use https, or accept that with --insecure`;
    throw new TuttiError("refused", message);
  }
  return url.href.replace(/\/+$/, "");
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  if (isIP(address) === 0) return address === "localhost";
  return loopback.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}
