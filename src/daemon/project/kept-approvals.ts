// Keeps the standing approvals of all projects in `approvals.json` of the state folder, which only its owner can read.

import { randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { z } from "zod";

import { covers } from "../../core/standing-approvals.ts";
import { replacePrivateFile } from "../../files/private-file.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import { TuttiError } from "../../protocol/error.ts";
import { type AllowedCalls, StandingApproval } from "../../protocol/invocation/standing-approval.ts";
import { parseJson } from "../../protocol/json/parse-json.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { withShortLock } from "../../store/sqlite/short-lock.ts";

const ApprovalsFile = z.strictObject({ approvals: z.array(StandingApproval) });

export interface KeptApprovals {
  list(): readonly StandingApproval[];
  /** The first one that covers the call. */
  find(project: string, call: AllowedCalls): StandingApproval | undefined;
  /** Returns the one that there is already if it is the same. */
  add(made: Pick<StandingApproval, "project" | "calls" | "by" | "key">): StandingApproval;
  /** Throws `not_found` when there is none with this id. */
  revoke(id: string): void;
  /** Removes those that were made with an API key that is revoked. */
  endOfKeys(isRevoked: (key: string) => boolean): void;
}

/** Reads the file at every question, because a command may change it while a daemon runs. */
export function keptApprovals(state: string): KeptApprovals {
  const path = join(state, "approvals.json");
  const list = (): readonly StandingApproval[] => {
    const text = readOptionalFile(path);
    if (text === undefined) return [];
    const parsed = ApprovalsFile.safeParse(parseJson(text));
    if (parsed.success) return parsed.data.approvals;
    throw new TuttiError("corrupt", `${path} cannot be read; remove it, and you are asked again`);
  };
  /** A file that cannot be read allows nothing, so a person is asked and no task fails because of it. */
  const readable = (): readonly StandingApproval[] => {
    try {
      return list();
    } catch {
      return [];
    }
  };
  /** Reads and writes under a lock: of two changes at once, neither may lose the other. */
  const change = <T>(work: (before: readonly StandingApproval[]) => { after?: StandingApproval[]; result: T }): T => {
    makeFolder(state);
    return withShortLock(`${path}.lock`, () => {
      const { after, result } = work(list());
      if (after !== undefined) replacePrivateFile(path, `${JSON.stringify({ approvals: after }, null, 2)}\n`);
      return result;
    });
  };
  return {
    list,
    find(project, call) {
      const folder = realFolder(project);
      return readable().find((each) => each.project === folder && covers(each.calls, call));
    },
    add({ project, calls, by, key }) {
      const folder = realFolder(project);
      const text = JSON.stringify(calls);
      return change((before) => {
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
    },
    revoke(id) {
      change((before) => {
        const after = before.filter((each) => each.id !== id);
        if (after.length === before.length) throw new TuttiError("not_found", `there is no standing approval ${id}`);
        return { after, result: undefined };
      });
    },
    endOfKeys(isRevoked) {
      const isOver = ({ key }: StandingApproval): boolean => key !== undefined && isRevoked(key);
      // Without a reason, nothing is locked and written at every start.
      if (!readable().some(isOver)) return;
      change((before) => ({ after: before.filter((each) => !isOver(each)), result: undefined }));
    },
  };
}

function realFolder(project: string): string {
  return existsSync(project) ? realpathSync(project) : project;
}
