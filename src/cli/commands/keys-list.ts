// `tutti keys list`: lists the API keys of the daemon.
import type { Host } from "../../host/host.ts";
import type { KeyView } from "../../protocol/api/service.ts";
import { withDaemon } from "../connect.ts";
import { writeJson } from "../terminal/screen.ts";
import { writeTable } from "../terminal/table.ts";
import { duration } from "../terminal/units.ts";

export interface KeysListOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function keysListCommand(host: Host, options: KeysListOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    const keys = await tutti.keys();
    if (options.json === true) return writeJson(keys);
    const now = Date.now();
    const rows = keys.map((key) => {
      const { id, name, role, created_at, revoked_at } = key;
      const revoked = revoked_at === null ? "" : `revoked ${duration(now - revoked_at)} ago`;
      return { cells: [id, name, role, standingText(key), `${duration(now - created_at)} ago`, revoked] };
    });
    await writeTable(rows, ["id", "name", "role", "used by", "made", ""]);
  });
}

/** Who uses a key, and what it may do unasked. */
export function standingText({ person, may, folders }: Pick<KeyView, "person" | "may" | "folders">): string {
  if (person) return "a person";
  const unasked = [...may, ...folders];
  return unasked.length === 0 ? "a program" : `a program, unasked: ${unasked.join(", ")}`;
}
