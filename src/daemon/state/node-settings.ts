// How a service is a node of many: the database that they share, and how the others know this one. Kept in a file of the state folder.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

import { z } from "zod";

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import type { DatabaseOptions } from "../../host/host.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { readDatabaseUrl } from "../../store/postgres/database-url.ts";
import { isOwnLabel, NodeLabel } from "../../protocol/invocation/node-label.ts";
import { nameProjects } from "../documents/project-names.ts";
import { clusterEnvironment } from "../cluster/cluster-environment.ts";
import { databaseFile, makeFolder, movedMarkOf, openForReading } from "../../store/sqlite/database.ts";

/** What a schema may be called. It is part of what the database is told when a connection begins. */
const SchemaName = z.string().regex(/^[a-z_][a-z0-9_]{0,40}$/);
const Name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/);
/** Those say what a node has by itself. */
const Label = NodeLabel.refine((label) => !isOwnLabel(label));
/** Shorter leases would be lost in a pause of the process; longer ones leave work alone for too long. */
const LeaseMs = z.int().min(1_000).max(300_000);

const NodeFile = z.strictObject({
  database: z.string(),
  schema: SchemaName,
  name: Name,
  labels: z.array(Label).max(50),
  lease_ms: LeaseMs,
  advertise: z.url({ protocol: /^https?$/ }).optional(),
});
type NodeFile = z.infer<typeof NodeFile>;

interface DatabaseAddress {
  readonly url: string;
  readonly schema: string;
}

export interface NodeSettings {
  readonly address: DatabaseAddress;
  /** Unique among the nodes: one that joins takes the place of another of the same name. */
  readonly name: string;
  readonly labels: readonly string[];
  /** How long the others wait before they take over the work of a node that they do not hear of. */
  readonly leaseMs: number;
  /** Where the other nodes reach this one, when it is not the address that it listens on. */
  readonly advertise?: string | undefined;
}

const defaultLeaseMs = 15_000;
const defaultSchema = "tutti";

/** For a command that works on a database itself: the one that is given, in the environment or of the node of the folder. */
export function databaseFor(folder: string, given: Pick<DatabaseOptions, "url" | "schema">): DatabaseAddress {
  const node = readNodeSettings(folder)?.address;
  const url = given.url ?? clusterEnvironment().databaseUrl ?? node?.url;
  if (url === undefined) {
    throw new TuttiError("usage", "say which database: --database postgres://…, or set TUTTI_DATABASE");
  }
  readDatabaseUrl(url);
  const schema = SchemaName.safeParse(given.schema ?? node?.schema ?? defaultSchema);
  if (!schema.success) throw new TuttiError("usage", hintFor("schema"));
  return { url, schema: schema.data };
}

export const nodeFile = (folder: string): string => join(folder, "node.json");

/** For every question about what is agreed to, so the file is not read. */
export function isNodeFolder(folder: string): boolean {
  return existsSync(nodeFile(folder));
}

/** Undefined when the folder keeps its own records. */
export function readNodeSettings(folder: string): NodeSettings | undefined {
  const file = readNodeFile(folder);
  if (file === undefined) return undefined;
  const { database: url, schema, name, labels, lease_ms: leaseMs, advertise } = file;
  return { address: { url, schema }, name, labels, leaseMs, advertise };
}

/** What is given takes the place of what is kept; what is not given stays as it was. */
export function keepNodeSettings(folder: string, given: DatabaseOptions): NodeSettings | undefined {
  const before = readNodeFile(folder);
  const database = given.url ?? clusterEnvironment().databaseUrl ?? before?.database;
  if (database === undefined) {
    if (Object.keys(given).length === 0) return undefined;
    throw new TuttiError("usage", "a node needs a database; give --database postgres://…");
  }
  if (before === undefined) refuseOwnRecords(folder);
  readDatabaseUrl(database);
  const read = NodeFile.safeParse({
    database,
    schema: given.schema ?? before?.schema ?? defaultSchema,
    name: given.node ?? before?.name ?? newName(),
    labels: given.labels ?? before?.labels ?? [],
    lease_ms: given.leaseMs ?? before?.lease_ms ?? defaultLeaseMs,
    advertise: given.advertise ?? before?.advertise,
  });
  if (!read.success) throw new TuttiError("usage", hintFor(String(read.error.issues[0]?.path[0] ?? "")));
  const after = JSON.stringify(read.data);
  makeFolder(folder);
  if (given.projects !== undefined) nameProjects(folder, given.projects);
  if (after !== JSON.stringify(before)) replacePrivateFile(nodeFile(folder), `${after}\n`);
  return readNodeSettings(folder);
}

/** For what works on the records of a folder itself, without its daemon. */
export function refuseNodeFolder(folder: string): void {
  if (readNodeFile(folder) === undefined) return;
  throw new TuttiError(
    "unreachable",
    `the records of ${folder} are in a database, and its node does not run; start it with \`tutti up\``,
  );
}

function readNodeFile(folder: string): NodeFile | undefined {
  const file = nodeFile(folder);
  const text = readPrivateFile(file);
  if (text === undefined) return undefined;
  const { data } = NodeFile.safeParse(parseJson(text));
  // The text is not shown: it holds the address of the database with its password.
  if (data === undefined) throw new TuttiError("corrupt", `${file} cannot be read; start with --database again`);
  return data;
}

function refuseOwnRecords(folder: string): void {
  if (!existsSync(databaseFile(folder))) return;
  const { database, close } = openForReading(folder);
  const mark = movedMarkOf(database);
  close();
  // What was moved into a database is of no use any more, but workspaces and keys of the folder are.
  if (mark?.done === true) return;
  const message = `${folder} holds its own records; bring them over with \`tutti import\`, or start the node in another folder (--state)`;
  throw new TuttiError("conflict", message);
}

/** Two machines may have the same host name. */
function newName(): string {
  const host = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, "-")
    .replace(/^-+/, "")
    .slice(0, 40);
  return `${host === "" ? "node" : host}-${randomBytes(2).toString("hex")}`;
}

function hintFor(field: string): string {
  if (field === "name") return "the name of a node has up to 63 of a-z, 0-9, dot, dash and underscore";
  if (field === "labels")
    return "a label has up to 100 letters, digits and . _ : / = -, and a node up to 50 labels; project:, runner: and schema: are not given but found out";
  if (field === "lease_ms") return "a lease is between 1 and 300 seconds";
  if (field === "advertise") return "the address for other nodes must be like https://10.0.0.7:7878";
  return "a schema has up to 41 of a-z, 0-9 and underscore";
}
