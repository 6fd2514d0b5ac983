// What becomes of agreements that a state folder and a database have both: what the other side has is added, and nothing that is there changes.

import { isDeepStrictEqual } from "node:util";

import type { z } from "zod";

import { DayLedger, mergeDays, newDay } from "../../core/day-ledger.ts";
import { TuttiError } from "../../protocol/error.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { ServersFile } from "../project/agreed-servers.ts";
import { AllowedFile, writtenChecks } from "../project/allowed-checks.ts";
import { ApprovalsFile } from "../project/kept-approvals.ts";
import { TrustFile } from "../project/trusted-configs.ts";
import { SettingsFileSchema } from "../project/trusted-settings.ts";

interface Merging {
  /** The name of a project where the agreements go, by the one that it has where they come from. */
  readonly projectOf: (project: string) => string;
  /** Who agreed, where that is not said. */
  readonly by?: string;
}

export interface AgreementDocument {
  readonly name:
    | "trusted.json"
    | "trusted-settings.json"
    | "mcp-servers.json"
    | "approvals.json"
    | "allowed-checks.json"
    | "day-limits.json";
  /** As it is written when nothing is agreed to. */
  readonly empty: string;
  /** Both are the text of a document. Throws `corrupt` when one cannot be read. */
  merged(into: string, from: string, merging: Merging): string;
}

type Merge<T> = (into: T, from: T, merging: Merging) => T;

function document<S extends z.ZodType>(
  name: AgreementDocument["name"],
  schema: S,
  {
    empty,
    merge,
    written = (value) => `${JSON.stringify(value, null, 2)}\n`,
  }: {
    readonly empty: z.infer<S>;
    readonly merge: Merge<z.infer<S>>;
    readonly written?: (value: z.infer<S>) => string;
  },
): AgreementDocument {
  const read = (text: string): z.infer<S> => {
    const { data, success } = schema.safeParse(parseJson(text));
    if (success) return data;
    throw new TuttiError("corrupt", `${name} cannot be read; remove it, and you are asked again`);
  };
  return {
    name,
    empty: written(empty),
    merged: (into, from, merging) => written(merge(read(into), read(from), merging)),
  };
}

type ByProject<T> = Readonly<Record<string, T>>;

/** `one` gets what is there already for the project, if anything is. */
function byProject<T>(
  into: ByProject<T>,
  from: ByProject<T>,
  { projectOf }: Merging,
  one: (into: T | undefined, from: T) => T,
): Record<string, T> {
  const all = new Map(Object.entries(into));
  for (const [project, agreed] of Object.entries(from)) {
    all.set(projectOf(project), one(all.get(projectOf(project)), agreed));
  }
  return Object.fromEntries(all);
}

const withBy = <T extends { readonly by?: string | undefined }>(agreed: T, { by }: Merging): T =>
  agreed.by === undefined && by !== undefined ? { ...agreed, by } : agreed;

/** What was taken back on the side that counts stays taken back. */
const mergeTrust: Merge<TrustFile> = (into, from, merging) => {
  return {
    projects: byProject(into.projects, from.projects, merging, (there, other) => {
      const { trusted, revoked } = there ?? { trusted: [], revoked: [] };
      const known = new Set([...trusted.map(({ hash }) => hash), ...revoked]);
      return {
        trusted: [
          ...trusted,
          ...other.trusted.filter(({ hash }) => !known.has(hash)).map((each) => withBy(each, merging)),
        ],
        revoked: [...revoked, ...other.revoked.filter((hash) => !known.has(hash))],
      };
    }),
  };
};

const mergeSettings: Merge<z.infer<typeof SettingsFileSchema>> = (into, from, merging) => ({
  projects: byProject(into.projects, from.projects, merging, (there = [], other) => [
    ...there,
    ...other
      .filter(({ path, hash }) => !there.some((each) => each.path === path && each.hash === hash))
      .map((each) => withBy(each, merging)),
  ]),
});

const mergeServers: Merge<z.infer<typeof ServersFile>> = (into, from, merging) => ({
  projects: byProject(into.projects, from.projects, merging, (there = {}, other) =>
    Object.fromEntries([
      ...Object.entries(other).map(([name, agreed]) => [name, withBy(agreed, merging)] as const),
      ...Object.entries(there),
    ]),
  ),
});

const mergeApprovals: Merge<z.infer<typeof ApprovalsFile>> = (into, from, { projectOf }) => {
  const others = from.approvals
    .map((each) => ({ ...each, project: projectOf(each.project) }))
    .filter(
      ({ id, project, key, calls }) =>
        !into.approvals.some(
          (each) =>
            each.id === id || (each.project === project && each.key === key && isDeepStrictEqual(each.calls, calls)),
        ),
    );
  return { approvals: [...into.approvals, ...others] };
};

/** Goals that only the other side knows are older than what is allowed from now on, so they stand first. */
const mergeChecks: Merge<AllowedFile> = (into, from, merging) => {
  const added = (goal: string): AllowedFile[number]["checks"] => {
    const there = into.find((each) => each.goal === goal)?.checks ?? [];
    const other = from.find((each) => each.goal === goal)?.checks ?? [];
    return other
      .filter(({ argv }) => !there.some((each) => isDeepStrictEqual(each.argv, argv)))
      .map((each) => withBy(each, merging));
  };
  const others = from.filter(({ goal }) => !into.some((each) => each.goal === goal));
  return [
    ...others.map(({ goal }) => ({ goal, checks: added(goal) })),
    ...into.map(({ goal, checks }) => ({ goal, checks: [...checks, ...added(goal)] })),
  ];
};

export const agreementDocuments: readonly AgreementDocument[] = [
  document("trusted.json", TrustFile, { empty: { projects: {} }, merge: mergeTrust }),
  document("trusted-settings.json", SettingsFileSchema, { empty: { projects: {} }, merge: mergeSettings }),
  document("mcp-servers.json", ServersFile, { empty: { projects: {} }, merge: mergeServers }),
  document("approvals.json", ApprovalsFile, { empty: { approvals: [] }, merge: mergeApprovals }),
  document("allowed-checks.json", AllowedFile, { empty: [], merge: mergeChecks, written: writtenChecks }),
  // Nobody agreed to it, but what a day may still use must not begin anew with a move.
  document("day-limits.json", DayLedger, { empty: newDay(0), merge: mergeDays }),
];
