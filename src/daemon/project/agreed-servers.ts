// Remembers which MCP servers the person has agreed to, by project, with their tools, in the document `mcp-servers.json`.

import { z } from "zod";

import { OfferedTool, toolsHash } from "../../mcp/server-identity.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { documentsOf } from "../documents/documents-of.ts";

const Offer = z.object({ tools: z.array(OfferedTool), resources: z.boolean(), prompts: z.boolean() });
export type Offer = z.infer<typeof Offer>;

const Agreement = z.object({
  /** What is started or called. */
  hash: z.string(),
  at: z.number(),
  /** Who decided, where several people share the document. */
  by: z.string().optional(),
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

export const ServersFile = z.object({ projects: z.record(z.string(), z.record(z.string(), Agreement)) });
type Projects = z.infer<typeof ServersFile>["projects"];

interface ListedServer extends Agreement {
  /** Empty for the servers of the person's own config. */
  readonly project: string;
  readonly name: string;
}

export interface AgreedServers {
  find(project: string, name: string): Agreement | undefined;
  /** The server may be started or called. What it offered under other settings no longer counts. */
  agree(project: string, name: string, hash: string): Promise<void>;
  refuse(project: string, name: string, hash: string): Promise<void>;
  /** What the server offers, which counts from now on. */
  keepOffer(project: string, name: string, offer: Offer): Promise<void>;
  /** What the server offers now. It does not count before somebody agrees, and is forgotten when it is as before. */
  noteOffer(project: string, name: string, offer: Pick<Offer, "tools"> & Partial<Offer>): Promise<void>;
  /** The person does not want what the server offers now; the tools from before stay. */
  declineChange(project: string, name: string): Promise<void>;
  list(): ListedServer[];
  /** Takes back every agreement about the project; false when there was none. */
  revoke(project: string): Promise<boolean>;
}

const document = "mcp-servers.json";

/** Reads the document at every question, because a command or another node may change it while a daemon runs. */
export function openAgreedServers(state: string): AgreedServers {
  const parse = (text: string | undefined): Projects => {
    if (text === undefined) return {};
    const parsed = ServersFile.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.projects;
    const place = documentsOf(state).placeOf(document);
    throw new TuttiError("corrupt", `${place} cannot be read; remove it and trust your servers again`);
  };
  const written = (projects: Projects): string => `${JSON.stringify({ projects })}\n`;
  const read = (): Projects => parse(documentsOf(state).read(document));
  const nameOf = (project: string): string => documentsOf(state).projectOf(project);
  const serversOf = (projects: Projects, project: string): Projects[string] => {
    const known = nameOf(project);
    return (Object.hasOwn(projects, known) ? projects[known] : undefined) ?? {};
  };
  const findIn = (projects: Projects, project: string, name: string): Agreement | undefined => {
    const servers = serversOf(projects, project);
    return Object.hasOwn(servers, name) ? servers[name] : undefined;
  };
  const write = (change: (before: Projects) => Projects): Promise<void> =>
    documentsOf(state).change(document, (text) => {
      return { after: written(change(parse(text))), result: undefined };
    });
  const put = (
    project: string,
    name: string,
    change: (before: Agreement | undefined) => Agreement | undefined,
  ): Promise<void> =>
    write((projects) => {
      const changed = change(findIn(projects, project, name));
      if (changed === undefined) return projects;
      return { ...projects, [nameOf(project)]: { ...serversOf(projects, project), [name]: changed } };
    });
  /** Of a decision that is made now. */
  const now = (): Pick<Agreement, "at" | "by"> => ({ at: Date.now(), by: documentsOf(state).by });
  return {
    find: (project, name) => findIn(read(), project, name),
    agree: (project, name, hash) =>
      put(project, name, (before) =>
        before?.hash === hash ? { ...before, refused: false } : { hash, ...now(), refused: false, declined: [] },
      ),
    refuse: (project, name, hash) => put(project, name, () => ({ hash, ...now(), refused: true, declined: [] })),
    keepOffer: (project, name, offer) =>
      put(project, name, (before) => before && { ...before, offer, changed: undefined, ...now() }),
    noteOffer: (project, name, { tools, resources, prompts }) =>
      put(project, name, (before) => {
        if (before?.offer === undefined) return undefined;
        const offered = {
          tools,
          resources: resources ?? before.offer.resources,
          prompts: prompts ?? before.offer.prompts,
        };
        const isSame = toolsHash(tools) === toolsHash(before.offer.tools);
        return { ...before, changed: isSame ? undefined : offered };
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
    revoke: (project) =>
      documentsOf(state).takeBack(document, (text) => {
        const projects = parse(text);
        if (Object.keys(serversOf(projects, project)).length === 0) return { result: false };
        const { [nameOf(project)]: _, ...others } = projects;
        return { after: written(others), result: true };
      }),
  };
}
