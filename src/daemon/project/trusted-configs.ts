// Remembers which configs and policies the person has agreed to, by project and content, in the document `trusted.json`.

import { existsSync, realpathSync } from "node:fs";
import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { TuttiError } from "../../protocol/error.ts";
import type { Changed } from "../documents/documents.ts";
import { documentsOf } from "../documents/documents-of.ts";
import type { TrustedConfig } from "../../host/project.ts";
import type { ConfigFiles } from "./config-files.ts";

/** `by` says who agreed, where several people share the document. */
const Agreed = z.strictObject({ hash: z.string(), at: z.number(), by: z.string().optional() });
const ProjectTrust = z.strictObject({
  trusted: z.array(Agreed),
  /** Kept so that an earlier yes, which a task has recorded, does not count after the person took it back. */
  revoked: z.array(z.string()),
});
type ProjectTrust = z.infer<typeof ProjectTrust>;
export const TrustFile = z.strictObject({ projects: z.record(z.string(), ProjectTrust) });
export type TrustFile = z.infer<typeof TrustFile>;

export type ConfigContent = Pick<ConfigFiles, "folder" | "hash">;

const policyMark = "policy:";

/** Stands for the content of a project's policy. It is agreed to by itself: neither it nor the config counts for the other. */
export function policyContent(folder: string, hash: string): ConfigContent {
  return { folder, hash: `${policyMark}${hash}` };
}

/** The hash of a policy's content; undefined when the hash is that of a config. */
export function policyHash(hash: string): string | undefined {
  return hash.startsWith(policyMark) ? hash.slice(policyMark.length) : undefined;
}

/** Stands for a project without a config. It needs an agreement where a config was trusted: its rules no longer count. */
export function missingConfig(project: string): ConfigContent {
  const folder = existsSync(project) ? realpathSync(project) : project;
  return { folder, hash: "none" };
}

export interface Trust {
  isTrusted(content: ConfigContent): boolean;
  isRevoked(content: ConfigContent): boolean;
  /** Whether some content of this project's config is trusted. */
  knows(folder: string): boolean;
  /** Whether some content of this project's policy is trusted. */
  knowsPolicy(folder: string): boolean;
  record(content: ConfigContent): Promise<void>;
  /** Takes back every agreement about the folder; false when there was none. */
  revoke(folder: string): Promise<boolean>;
  /** Whether the project has no config although one was trusted, and nobody agreed to go on without. */
  misses(project: string): boolean;
  list(): TrustedConfig[];
}

const name = "trusted.json";

/** Reads the document at every question, because a command or another node may change it while a daemon runs. */
export function openTrust(state: string): Trust {
  const nameOf = (folder: string): string => documentsOf(state).projectOf(folder);
  const projectIn = ({ projects }: TrustFile, folder: string): ProjectTrust => {
    const project = nameOf(folder);
    return (Object.hasOwn(projects, project) ? projects[project] : undefined) ?? { trusted: [], revoked: [] };
  };
  const configsOf = (folder: string): string[] =>
    projectIn(read(), folder).trusted.flatMap(({ hash }) => (policyHash(hash) === undefined ? [hash] : []));
  const parse = (text: string | undefined): TrustFile => {
    if (text === undefined) return { projects: {} };
    const parsed = TrustFile.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    const place = documentsOf(state).placeOf(name);
    throw new TuttiError("corrupt", `${place} cannot be read; remove it and trust your projects again`);
  };
  const read = (): TrustFile => parse(documentsOf(state).read(name));
  /** What becomes of the agreements about one folder; undefined leaves them as they are. */
  const changing =
    (folder: string, work: (before: ProjectTrust) => ProjectTrust | undefined) =>
    (text: string | undefined): Changed<boolean> => {
      const { projects } = parse(text);
      const changed = work(projectIn({ projects }, folder));
      if (changed === undefined) return { result: false };
      const after = { projects: { ...projects, [nameOf(folder)]: changed } };
      return { after: `${JSON.stringify(after, null, 2)}\n`, result: true };
    };
  return {
    isTrusted: ({ folder, hash }) => projectIn(read(), folder).trusted.some((each) => each.hash === hash),
    isRevoked: ({ folder, hash }) => projectIn(read(), folder).revoked.includes(hash),
    knows: (folder) => configsOf(folder).length > 0,
    knowsPolicy: (folder) => projectIn(read(), folder).trusted.some(({ hash }) => policyHash(hash) !== undefined),
    misses(project) {
      const { folder, hash } = missingConfig(project);
      const trusted = configsOf(folder);
      return trusted.length > 0 && !trusted.includes(hash);
    },
    async record({ folder, hash }) {
      const { by } = documentsOf(state);
      const agree = changing(folder, ({ trusted, revoked }) => {
        if (trusted.some((each) => each.hash === hash)) return undefined;
        return {
          trusted: [...trusted, { hash, at: Date.now(), by }],
          revoked: revoked.filter((each) => each !== hash),
        };
      });
      await documentsOf(state).change(name, agree);
    },
    revoke: (folder) =>
      documentsOf(state).takeBack(
        name,
        changing(folder, ({ trusted, revoked }) =>
          trusted.length === 0 ? undefined : { trusted: [], revoked: [...revoked, ...trusted.map(({ hash }) => hash)] },
        ),
      ),
    list: () =>
      Object.entries(read().projects).flatMap(([folder, { trusted }]) => trusted.map((each) => ({ folder, ...each }))),
  };
}
