// `tutti keys`: who may talk to the daemon.
import type { Host } from "../../host/host.ts";
import { type KeyRole, NewKey } from "../../protocol/api/service.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf } from "../../protocol/lenient-read.ts";
import { dim, warn, writeLine } from "../terminal/output.ts";
import { withDaemon } from "../connect.ts";
import { writeTable } from "../terminal/table.ts";
import { duration } from "../terminal/task-tree.ts";

export interface KeysOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function listKeys(host: Host, options: KeysOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    const keys = await tutti.keys();
    if (options.json === true) return writeLine(JSON.stringify(keys));
    const now = Date.now();
    await writeTable(
      keys.map(({ id, name, role, created_at, revoked_at }) => ({
        cells: [
          id,
          name,
          role,
          `${duration(now - created_at)} ago`,
          revoked_at === null ? "" : `revoked ${duration(now - revoked_at)} ago`,
        ],
      })),
      ["id", "name", "role", "made", ""],
    );
  });
}

export async function addKey(
  host: Host,
  name: string,
  options: KeysOptions & { readonly role: KeyRole },
): Promise<void> {
  const asked = NewKey.safeParse({ name, role: options.role });
  if (!asked.success) {
    const [issue] = issuesOf(asked.error);
    throw new TuttiError("usage", `a key cannot be called ${JSON.stringify(name)}: ${issue?.message ?? "no name"}`);
  }
  await withDaemon(host, options, async (tutti) => {
    const made = await tutti.addKey(asked.data);
    if (options.json === true) return writeLine(JSON.stringify(made));
    await writeLine(made.key);
    warn("the key is shown this once; keep it where only its user can read it");
    console.error(dim(`${made.id}, ${made.role}; sent as \`Authorization: Bearer KEY\``));
  });
}

export async function revokeKey(host: Host, id: string, options: KeysOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.revokeKey(id);
    await writeLine(options.json === true ? JSON.stringify({ revoked: id }) : `${id} is good for nothing from now on`);
  });
}
