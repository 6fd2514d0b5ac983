// The options that name a database, for commands that work on it themselves.

import { Option } from "commander";

import type { GivenDatabase } from "../host/host.ts";

/** `--database` may be given without a value. */
export interface DatabaseFlags {
  readonly database?: string | true;
  readonly schema?: string;
  readonly clusterKeyFile?: string;
}

export const databaseOption = (about: string): Option =>
  new Option("--database [url]", `${about} (postgres://…; default: $TUTTI_DATABASE, which no list of processes shows)`);
export const schemaOption = (): Option =>
  new Option("--schema <name>", "the schema of the database that holds everything of this Tutti (default: tutti)");
export const clusterKeyOption = (): Option =>
  new Option(
    "--cluster-key-file <file>",
    "the key that all nodes have, which opens the secrets in the database (default: $TUTTI_CLUSTER_KEY, or the file in the folder)",
  );

export function givenDatabase({ database, schema, clusterKeyFile: keyFile }: DatabaseFlags): GivenDatabase {
  return {
    ...(typeof database === "string" ? { url: database } : {}),
    ...(schema === undefined ? {} : { schema }),
    ...(keyFile === undefined ? {} : { keyFile }),
  };
}
