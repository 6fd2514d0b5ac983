// `tutti keys revoke`: revokes an API key.
import type { Host } from "../../host/host.ts";
import { withDaemon } from "../connect.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface KeysRevokeOptions {
  readonly state?: string;
  readonly json?: boolean;
}

export async function keysRevokeCommand(host: Host, id: string, options: KeysRevokeOptions): Promise<void> {
  await withDaemon(host, options, async (tutti) => {
    await tutti.revokeKey(id);
    await (options.json === true ? writeJson({ revoked: id }) : writeLine(`${id} is revoked`));
  });
}
