// The database that a command is given: as an option, or in a variable, which no list of processes shows.

import { Option } from "commander";

import { TuttiError } from "../protocol/error.ts";

/** `--database` may be given without a value. */
export interface DatabaseFlags {
  readonly database?: string | true;
  readonly schema?: string;
}

export const databaseOption = (about: string): Option =>
  new Option("--database [url]", `${about} (postgres://…; default: $TUTTI_DATABASE, which no list of processes shows)`);
export const schemaOption = (): Option =>
  new Option("--schema <name>", "the schema of the database that holds everything of this Tutti (default: tutti)");

/** Throws when neither the option nor the variable says which. */
export function givenDatabase({ database, schema }: DatabaseFlags): { readonly url: string; readonly schema: string } {
  const url = typeof database === "string" ? database : (process.env["TUTTI_DATABASE"] ?? "");
  if (url === "") throw new TuttiError("usage", "say which database: --database postgres://…, or set TUTTI_DATABASE");
  return { url, schema: schema ?? "tutti" };
}
