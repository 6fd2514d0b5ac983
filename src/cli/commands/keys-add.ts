// `tutti keys add`: makes an API key and prints it.
import { resolve } from "node:path";

import type { Host } from "../../host/host.ts";
import { type KeyRole, NewKey } from "../../protocol/api/service.ts";
import type { KeyGrant } from "../../protocol/invocation/by-program.ts";
import { TuttiError } from "../../protocol/error.ts";
import { issuesOf } from "../../protocol/lenient-read.ts";
import { withDaemon } from "../connect.ts";
import { warn } from "../terminal/output.ts";
import { note, writeJson, writeUnbroken } from "../terminal/screen.ts";
import { dim } from "../terminal/style.ts";
import { standingText } from "./keys-list.ts";

export interface KeysAddOptions {
  readonly state?: string;
  readonly json?: boolean;
  readonly role: KeyRole;
  readonly person?: boolean;
  readonly may?: readonly KeyGrant[];
  readonly folder?: readonly string[];
}

export async function keysAddCommand(host: Host, name: string, options: KeysAddOptions): Promise<void> {
  const { role, person = false, may = [], folder = [] } = options;
  if (person && may.length + folder.length > 0) {
    throw new TuttiError(
      "usage",
      "a key of a person needs neither --may nor --folder: nobody asks about what a person wants",
    );
  }
  const folders = folder.map((each) => resolve(each));
  const parsed = NewKey.safeParse({ name, role, person, may, folders });
  if (!parsed.success) {
    const [issue] = issuesOf(parsed.error);
    throw new TuttiError("usage", `a key cannot be called ${JSON.stringify(name)}: ${issue?.message ?? "no name"}`);
  }
  await withDaemon(host, options, async (tutti) => {
    const made = await tutti.addKey(parsed.data);
    if (options.json === true) return writeJson(made);
    await writeUnbroken(made.key);
    warn("the key is shown only now; keep it where only its user can read it");
    note(dim(`${made.id}, ${made.role}, ${standingText(made)}; send it as \`Authorization: Bearer KEY\``));
  });
}
