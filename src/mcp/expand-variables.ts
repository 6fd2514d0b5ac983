// Puts the values of variables where a server's settings name them, `${NAME}` or `${NAME:-default}`, and only of names that are allowed.

import type { McpServerEntry } from "../protocol/invocation/mcp-servers.ts";
import { TuttiError } from "../protocol/error.ts";

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Names that say where one is, and hold no secret. */
const plainNames: ReadonlySet<string> = new Set(["HOME", "USER", "LANG", "TZ", "PATH", "SHELL", "TMPDIR", "PWD"]);

/** Stands for the first folder of the task, whatever the environment says. */
export const folderVariable = "TUTTI_FOLDER";

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the person's own config allows beside the plain ones; `all` for servers of that config itself. */
  readonly allowed: readonly string[] | "all";
  /** The first folder of the task; undefined when it has none. */
  readonly folder: string | undefined;
}

/** The names of all variables that the settings refer to. */
export function variableNames(entry: McpServerEntry): string[] {
  const names = new Set<string>();
  for (const text of textsOf(entry)) for (const [, name = ""] of text.matchAll(reference)) names.add(name);
  return [...names].toSorted();
}

/** Throws `refused` for a name that is not allowed, and `invalid_input` for a variable that has no value. */
export function expandVariables<E extends McpServerEntry>(entry: E, { env, allowed, folder }: Variables): E {
  const expand = (text: string): string =>
    text.replace(reference, (_, name: string, standard: string | undefined) => {
      if (name === folderVariable) {
        if (folder !== undefined) return folder;
        throw new TuttiError("invalid_input", `the variable ${name} is the task's folder, and the task has none`);
      }
      if (allowed !== "all" && !allowed.includes(name) && !plainNames.has(name)) {
        const how = `add it to mcp.variables in ~/.tutti/tutti.config.json if the server may have it`;
        throw new TuttiError("refused", `the variable ${name} is not for this server; ${how}`);
      }
      const value = env[name] ?? standard;
      if (value === undefined) throw new TuttiError("invalid_input", `the variable ${name} is not set`);
      return value;
    });
  const every = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text)]));
  if ("url" in entry) {
    const { oauth } = entry;
    const secret = oauth?.client_secret === undefined ? {} : { client_secret: expand(oauth.client_secret) };
    return {
      ...entry,
      url: expand(entry.url),
      headers: every(entry.headers),
      ...(oauth === undefined ? {} : { oauth: { ...oauth, ...secret } }),
    };
  }
  return { ...entry, command: expand(entry.command), args: entry.args.map(expand), env: every(entry.env) };
}

function textsOf(entry: McpServerEntry): string[] {
  if ("url" in entry) return [entry.url, ...Object.values(entry.headers), entry.oauth?.client_secret ?? ""];
  return [entry.command, ...entry.args, ...Object.values(entry.env)];
}
