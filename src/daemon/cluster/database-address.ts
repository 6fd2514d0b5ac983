// Where the database of a node is: said with the command, in the environment, or in `database.url` of the state folder since the first start.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { readPrivateFile, replacePrivateFile } from "../../files/private-file.ts";
import { refuseSharedFolder } from "../../files/private-folder.ts";
import type { DatabaseAddress } from "../../store/postgres/database-connection.ts";
import { readDatabaseUrl } from "../../store/postgres/database-url.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { clusterEnvironment } from "./cluster-environment.ts";

/** The schema of every cluster; two clusters use two databases. */
const schema = "tutti";

export function databaseFileIn(folder: string): string {
  return join(folder, "database.url");
}

/** The first that is given counts. Undefined when the folder is that of a single machine. Throws for a URL that cannot be used. */
export function databaseAddressOf(folder: string, given?: string): DatabaseAddress | undefined {
  const url = given ?? clusterEnvironment().databaseUrl ?? readPrivateFile(databaseFileIn(folder))?.trim();
  if (url === undefined || url === "") return undefined;
  readDatabaseUrl(url);
  return { url, schema };
}

/**
 * Commands that work on this folder belong to the cluster of this database. The environment of a command that starts nothing
 * does not count: it may be about another folder.
 */
export function keptDatabaseAddress(folder: string): DatabaseAddress | undefined {
  const url = readPrivateFile(databaseFileIn(folder))?.trim();
  return url === undefined || url === "" ? undefined : { url, schema };
}

/** For the commands and the starts after this one. */
export function keepDatabaseAddress(folder: string, { url }: DatabaseAddress): void {
  const file = databaseFileIn(folder);
  refuseSharedFolder(folder);
  makeFolder(folder);
  if (readPrivateFile(file)?.trim() !== url) replacePrivateFile(file, `${url}\n`);
}

export function forgetDatabaseAddress(folder: string): void {
  rmSync(databaseFileIn(folder), { force: true });
}
