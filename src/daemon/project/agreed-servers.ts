// Remembers which MCP servers the person has agreed to, by project, with their tools, in `mcp-servers.json` of the state folder.

import { join } from "node:path";

import { z } from "zod";

import { replacePrivateFile } from "../../files/private-file.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import { OfferedTool, toolsHash } from "../../mcp/server-identity.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { withShortLock } from "../../store/sqlite/short-lock.ts";

const Offer = z.object({ tools: z.array(OfferedTool), resources: z.boolean(), prompts: z.boolean() });
export type Offer = z.infer<typeof Offer>;

const Agreement = z.object({
  /** What is started or called. */
  hash: z.string(),
  at: z.number(),
  /** A no counts as long as nothing changes. */
  refused: z.boolean().default(false),
  /** What the server offers, as it was agreed to; absent until the server was first asked. */
  offer: Offer.optional(),
  /** What the server offers now, if that is something else. */
  changed: Offer.optional(),
  /** The changed offers that the person does not want. */
  declined: z.array(z.string()).default([]),
});
export type Agreement = z.infer<typeof Agreement>;

const File = z.object({ projects: z.record(z.string(), z.record(z.string(), Agreement)) });
type Projects = z.infer<typeof File>["projects"];

interface ListedServer extends Agreement {
  /** Empty for the servers of the person's own config. */
  readonly project: string;
  readonly name: string;
}

export interface AgreedServers {
  find(project: string, name: string): Agreement | undefined;
  /** The server may be started or called. What it offered under other settings no longer counts. */
  agree(project: string, name: string, hash: string): void;
  refuse(project: string, name: string, hash: string): void;
  /** What the server offers, which counts from now on. */
  keepOffer(project: string, name: string, offer: Offer): void;
  /** What the server offers now. It does not count before somebody agrees, and is forgotten when it is as before. */
  noteOffer(project: string, name: string, offer: Pick<Offer, "tools"> & Partial<Offer>): void;
  /** The person does not want what the server offers now; the tools from before stay. */
  declineChange(project: string, name: string): void;
  list(): ListedServer[];
  /** Takes back every agreement about the project; false when there was none. */
  revoke(project: string): boolean;
}

/** Reads the file at every question, because a command may change it while a daemon runs. */
export function openAgreedServers(state: string): AgreedServers {
  const path = join(state, "mcp-servers.json");
  const read = (): Projects => {
    const text = readOptionalFile(path);
    if (text === undefined) return {};
    const parsed = File.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.projects;
    throw new TuttiError("corrupt", `${path} cannot be read; remove it and trust your servers again`);
  };
  const serversOf = (projects: Projects, project: string): Projects[string] =>
    (Object.hasOwn(projects, project) ? projects[project] : undefined) ?? {};
  const findIn = (projects: Projects, project: string, name: string): Agreement | undefined => {
    const servers = serversOf(projects, project);
    return Object.hasOwn(servers, name) ? servers[name] : undefined;
  };
  const write = (change: (before: Projects) => Projects): void => {
    makeFolder(state);
    withShortLock(`${path}.lock`, () => {
      replacePrivateFile(path, `${JSON.stringify({ projects: change(read()) })}\n`);
    });
  };
  const put = (project: string, name: string, change: (before: Agreement | undefined) => Agreement | undefined): void =>
    write((projects) => {
      const changed = change(findIn(projects, project, name));
      if (changed === undefined) return projects;
      return { ...projects, [project]: { ...serversOf(projects, project), [name]: changed } };
    });
  return {
    find: (project, name) => findIn(read(), project, name),
    agree: (project, name, hash) =>
      put(project, name, (before) =>
        before?.hash === hash ? { ...before, refused: false } : { hash, at: Date.now(), refused: false, declined: [] },
      ),
    refuse: (project, name, hash) => put(project, name, () => ({ hash, at: Date.now(), refused: true, declined: [] })),
    keepOffer: (project, name, offer) =>
      put(project, name, (before) => before && { ...before, offer, changed: undefined, at: Date.now() }),
    noteOffer: (project, name, { tools, resources, prompts }) =>
      put(project, name, (before) => {
        if (before?.offer === undefined) return undefined;
        const now = { tools, resources: resources ?? before.offer.resources, prompts: prompts ?? before.offer.prompts };
        const isSame = toolsHash(tools) === toolsHash(before.offer.tools);
        return { ...before, changed: isSame ? undefined : now };
      }),
    declineChange: (project, name) =>
      put(project, name, (before) => {
        if (before?.changed === undefined) return undefined;
        const declined = [...before.declined, toolsHash(before.changed.tools)].slice(-20);
        return { ...before, changed: undefined, declined };
      }),
    list: () =>
      Object.entries(read()).flatMap(([project, servers]) =>
        Object.entries(servers).map(([name, agreement]) => ({ project, name, ...agreement })),
      ),
    revoke(project) {
      if (Object.keys(serversOf(read(), project)).length === 0) return false;
      write((projects) => Object.fromEntries(Object.entries(projects).filter(([folder]) => folder !== project)));
      return true;
    },
  };
}
