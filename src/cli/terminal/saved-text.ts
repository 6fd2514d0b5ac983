// What a session left in its workspace, in a few words.
import type { TaskEvent } from "../../protocol/task/event.ts";
import { counted } from "./units.ts";

type Saved = Extract<TaskEvent, { type: "session.saved" }>["data"];

export function savedText({ mode, branch, folder, files, added, removed, commits, uncommitted }: Saved): string {
  if (mode === "shared") return `the work is in ${folder}`;
  if (files === 0 && uncommitted === 0) return "no file was changed";
  const where = branch === null ? `in ${folder}` : `on the branch ${branch}`;
  const left = uncommitted === 0 ? "" : `; ${counted(uncommitted, "file")} not committed`;
  return `${counted(files, "file")} changed (+${added} −${removed}) in ${counted(commits, "commit")} ${where}${left}`;
}
