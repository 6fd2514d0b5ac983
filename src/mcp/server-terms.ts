// What a person agrees to about a server: one object, from which both its fingerprint and the lines that show it are made.

import { argvLine } from "../protocol/argv-line.ts";
import { escapeInvisible } from "../core/escape-invisible.ts";
import type { HttpServer, McpServerEntry, StdioServer } from "../protocol/invocation/mcp-servers.ts";
import { variableNames } from "./expand-variables.ts";
import { seesFolder } from "./sees-folder.ts";
import type { CodeFiles } from "./server-code.ts";
import { canonicalHash } from "./canonical-hash.ts";

export interface ServerTerms {
  readonly name: string;
  /** As it is written, so that a secret of the person is only the name of a variable. */
  readonly entry: McpServerEntry;
  /** The files of the project that it is started from; undefined for a server that is no repository's. */
  readonly code?: CodeFiles | undefined;
}

/** Changes with anything that the terms hold, and not with the order of fields. */
export function termsHash({ name, entry, code }: ServerTerms): string {
  return canonicalHash({ name, entry, ...(code === undefined ? {} : { code }) });
}

export interface ShownTerms {
  /** One field each. Nothing in them is cut, but files beyond the first ones are counted. */
  readonly lines: readonly string[];
  /** Whether characters that cannot be seen stand in them as escapes. */
  readonly invisible: boolean;
}

type Lines = readonly (readonly [label: string, value: string])[];
/** A new field of a server does not compile before it says here how it is shown. */
type Shown<Entry> = { readonly [Field in keyof Entry]-?: (value: Entry[Field], entry: Entry) => Lines };

/** In this order: first what the server may do. */
const stdioFields: Shown<StdioServer> = {
  write: (write) => [["changes", write ? "FILES OF THE TASK'S FOLDERS" : "no files of the task's folders"]],
  network: (network) => [["network", network ? "REACHES THE NETWORK" : "none"]],
  command: (command, { args }) => [["runs", argvLine([command, ...args])]],
  // Shown with the command.
  args: () => [],
  cwd: (cwd) => (cwd === undefined ? [] : [["in", quote(cwd)]]),
  env: (env) => named("variable", env, "="),
  files: (files = []) => (files.length === 0 ? [] : [["needs", argvLine(files)]]),
  timeout_ms: (ms) => [["waits", `${ms} ms for an answer`]],
  type: (type) => [["speaks", `MCP over ${type}`]],
};

const optional = (label: string, value: string | undefined): Lines =>
  value === undefined ? [] : [[label, quote(value)]];

const oauthFields: Shown<NonNullable<HttpServer["oauth"]>> = {
  client_id: (id) => optional("logs in", id),
  grant: (grant) => [["grant", String(grant)]],
  client_secret: (secret) => optional("secret", secret),
  scope: (scope) => optional("scope", scope),
  issuer: (issuer) => optional("issuer", issuer),
};

const httpFields: Shown<HttpServer> = {
  url: (url) => [["calls", quote(url)], ...hostOf(url)],
  headers: (headers) => named("header", headers, ": "),
  oauth(oauth) {
    if (oauth === undefined) return [];
    return shownFields(oauthFields, oauth);
  },
  timeout_ms: (ms) => [["waits", `${ms} ms for an answer`]],
  type: (type) => [["speaks", `MCP over ${type}`]],
};

export function shownTerms(terms: ServerTerms): ShownTerms {
  const { entry, code } = terms;
  const variables = variableNames(entry);
  const all: Lines = [
    ...("url" in entry || code === undefined || !seesFolder(entry) ? [] : [seesLine]),
    ...("url" in entry ? shownFields(httpFields, entry) : shownFields(stdioFields, entry)),
    ["given", variables.length === 0 ? "no variables of yours" : `your variables ${variables.join(", ")}`],
    ...("url" in entry || code === undefined ? [] : shownCode(code)),
  ];
  const plain = all.map(([label, value]) => `${label.padEnd(10)} ${value}`);
  const lines = plain.map(escapeInvisible);
  return { lines, invisible: lines.some((line, index) => line !== plain[index]) || all.some(holdsEscapes) };
}

const seesLine = ["reads", "the task's folders; WHAT IT RUNS FROM THERE CAN CHANGE AFTER YOUR YES"] as const;

function shownFields<Entry extends object>(fields: Shown<Entry>, entry: Entry): Lines {
  const shown: (readonly [string, string])[] = [];
  for (const field in fields) shown.push(...fields[field](entry[field], entry));
  return shown;
}

function named(label: string, texts: Readonly<Record<string, string>>, between: string): Lines {
  return Object.entries(texts).map(([name, text]) => [label, `${name}${between}${quote(text)}`] as const);
}

/** What stands before an `@` or after a `/` can look like the host. */
function hostOf(url: string): Lines {
  const host = url.includes("${") ? undefined : URL.parse(url)?.host;
  return host === undefined ? [] : [["host", quote(host)]];
}

const mostFiles = 50;

function shownCode(code: CodeFiles): Lines {
  const paths = Object.keys(code).toSorted();
  if (paths.length === 0) return [["code", "no file of the project"]];
  const own = paths.filter((path) => !isInstalled(path));
  const further = own.length - mostFiles;
  return [
    ...own.slice(0, mostFiles).map((path) => ["code", `${quote(path)} ${shownMark(code[path] ?? "")}`] as const),
    ...(further > 0 ? [["code", `${further} further files`] as const] : []),
    ...(own.length === paths.length ? [] : [["code", `${paths.length - own.length} files of packages`] as const]),
    ["code", `all of it sha256 ${canonicalHash(code).slice(0, 12)}; a change of it asks again`],
  ];
}

/** A hash says enough by its beginning; where a link leads does not. */
function shownMark(mark: string): string {
  return /^sha256 [0-9a-f]+$/.test(mark) ? mark.slice(0, 24) : quote(mark);
}

function isInstalled(path: string): boolean {
  return path.split("/").includes("node_modules");
}

/** As JSON: the ends of a text are seen, and a line break is none. */
function quote(text: string): string {
  return JSON.stringify(text);
}

/** Controls are escapes already. */
function holdsEscapes([, value]: Lines[number]): boolean {
  return /\\(?:u[0-9a-f]{4}|[bf])/.test(value.replaceAll("\\\\", ""));
}

/** For whoever reads the lines, when they are marked so. */
export const invisibleNote = "BEWARE     characters that cannot be seen are written as escapes here";

const longestTerms = 16_000;

/** Nobody can agree to what is not shown, and nothing is cut, so a repository's server whose settings are longer is not used. */
export function isTooLong(terms: ServerTerms): boolean {
  const { lines } = shownTerms({ ...terms, code: {} });
  return lines.reduce((sum, { length }) => sum + length, 0) > longestTerms;
}
