// Keeps the standing approvals of all projects in the document `approvals.json`.

import { randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";

import { z } from "zod";

import { covers } from "../../core/standing-approvals.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type AllowedCalls, StandingApproval } from "../../protocol/invocation/standing-approval.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import type { Changed } from "../documents/documents.ts";
import { documentsOf } from "../documents/documents-of.ts";

export const ApprovalsFile = z.strictObject({ approvals: z.array(StandingApproval) });

export interface KeptApprovals {
  list(): readonly StandingApproval[];
  /** The first one that covers the call. */
  find(project: string, call: AllowedCalls): StandingApproval | undefined;
  /** Returns the one that there is already if it is the same. */
  add(made: Pick<StandingApproval, "project" | "calls" | "by" | "key">): Promise<StandingApproval>;
  /** Throws `not_found` when there is none with this id. */
  revoke(id: string): Promise<void>;
  /** Removes those that were made with an API key that is revoked. */
  endOfKeys(isRevoked: (key: string) => boolean): Promise<void>;
}

const name = "approvals.json";

/** Reads the document at every question, because a command or another node may change it while a daemon runs. */
export function keptApprovals(state: string): KeptApprovals {
  const parse = (text: string | undefined): readonly StandingApproval[] => {
    if (text === undefined) return [];
    const parsed = ApprovalsFile.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.approvals;
    const place = documentsOf(state).placeOf(name);
    throw new TuttiError("corrupt", `${place} cannot be read; remove it, and you are asked again`);
  };
  const list = (): readonly StandingApproval[] => parse(documentsOf(state).read(name));
  const nameOf = (project: string): string => documentsOf(state).projectOf(realFolder(project));
  /** A file that cannot be read allows nothing, so a person is asked and no task fails because of it. */
  const readable = (): readonly StandingApproval[] => {
    try {
      return list();
    } catch {
      return [];
    }
  };
  const changing =
    <T>(work: (before: readonly StandingApproval[]) => { after?: StandingApproval[]; result: T }) =>
    (text: string | undefined): Changed<T> => {
      const { after, result } = work(parse(text));
      if (after === undefined) return { result };
      return { after: `${JSON.stringify({ approvals: after }, null, 2)}\n`, result };
    };
  return {
    list,
    find(project, call) {
      const folder = nameOf(project);
      return readable().find((each) => each.project === folder && covers(each.calls, call));
    },
    add({ project, calls, by, key }) {
      const folder = nameOf(project);
      const text = JSON.stringify(calls);
      const added = changing<StandingApproval>((before) => {
        const same = before.find(
          (each) => each.project === folder && each.key === key && JSON.stringify(each.calls) === text,
        );
        if (same !== undefined) return { result: same };
        const id = `apr_${randomBytes(5).toString("hex")}`;
        const made: StandingApproval = {
          id,
          project: folder,
          calls,
          at: Date.now(),
          by,
          ...(key === undefined ? {} : { key }),
        };
        return { after: [...before, made], result: made };
      });
      return documentsOf(state).change(name, added);
    },
    async revoke(id) {
      const without = changing((before) => {
        const after = before.filter((each) => each.id !== id);
        if (after.length === before.length) throw new TuttiError("not_found", `there is no standing approval ${id}`);
        return { after, result: undefined };
      });
      await documentsOf(state).takeBack(name, without);
    },
    async endOfKeys(isRevoked) {
      const isOver = ({ key }: StandingApproval): boolean => key !== undefined && isRevoked(key);
      // Without a reason, nothing is locked and written at every start.
      if (!readable().some(isOver)) return;
      const without = changing((before) => ({ after: before.filter((each) => !isOver(each)), result: undefined }));
      // Whoever revoked the key waits for the other nodes.
      await documentsOf(state).change(name, without);
    },
  };
}

function realFolder(project: string): string {
  return existsSync(project) ? realpathSync(project) : project;
}
