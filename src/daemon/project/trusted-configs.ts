// Remembers which configs and policies the person has agreed to, by project folder and content, in `trusted.json` of the state folder.

import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { parseJson } from "../../protocol/json/parse-json.ts";
import { replacePrivateFile } from "../../files/private-file.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import { TuttiError } from "../../protocol/error.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { withShortLock } from "../../store/sqlite/short-lock.ts";
import type { ConfigFiles } from "./config-files.ts";

const Agreed = z.strictObject({ hash: z.string(), at: z.number() });
const ProjectTrust = z.strictObject({
  trusted: z.array(Agreed),
  /** Kept so that an earlier yes, which a task has recorded, does not count after the person took it back. */
  revoked: z.array(z.string()),
});
type ProjectTrust = z.infer<typeof ProjectTrust>;
const TrustFile = z.strictObject({ projects: z.record(z.string(), ProjectTrust) });
type TrustFile = z.infer<typeof TrustFile>;

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
  record(content: ConfigContent): void;
  /** Takes back every agreement about the folder; false when there was none. */
  revoke(folder: string): boolean;
  /** Whether the project has no config although one was trusted, and nobody agreed to go on without. */
  misses(project: string): boolean;
  list(): { readonly folder: string; readonly hash: string; readonly at: number }[];
}

/** Reads the file at every question, because a command may change it while a daemon runs. */
export function openTrust(state: string): Trust {
  const path = join(state, "trusted.json");
  const projectIn = ({ projects }: TrustFile, folder: string): ProjectTrust =>
    (Object.hasOwn(projects, folder) ? projects[folder] : undefined) ?? { trusted: [], revoked: [] };
  const configsOf = (folder: string): string[] =>
    projectIn(read(), folder).trusted.flatMap(({ hash }) => (policyHash(hash) === undefined ? [hash] : []));
  const read = (): TrustFile => {
    const text = readOptionalFile(path);
    if (text === undefined) return { projects: {} };
    const parsed = TrustFile.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    throw new TuttiError("corrupt", `${path} cannot be read; remove it and trust your projects again`);
  };
  /** Reads and writes under a lock: of two changes at once, neither may lose the other. */
  const change = (folder: string, work: (before: ProjectTrust) => ProjectTrust | undefined): boolean => {
    makeFolder(state);
    return withShortLock(`${path}.lock`, () => {
      const { projects } = read();
      const changed = work(projectIn({ projects }, folder));
      if (changed === undefined) return false;
      replacePrivateFile(path, `${JSON.stringify({ projects: { ...projects, [folder]: changed } }, null, 2)}\n`);
      return true;
    });
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
    record({ folder, hash }) {
      change(folder, ({ trusted, revoked }) => {
        if (trusted.some((each) => each.hash === hash)) return undefined;
        return {
          trusted: [...trusted, { hash, at: Date.now() }],
          revoked: revoked.filter((each) => each !== hash),
        };
      });
    },
    revoke: (folder) =>
      change(folder, ({ trusted, revoked }) =>
        trusted.length === 0 ? undefined : { trusted: [], revoked: [...revoked, ...trusted.map(({ hash }) => hash)] },
      ),
    list: () =>
      Object.entries(read().projects).flatMap(([folder, { trusted }]) => trusted.map((each) => ({ folder, ...each }))),
  };
}
