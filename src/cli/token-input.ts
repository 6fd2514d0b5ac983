// What the token commands read: verbs from the command line, and an existing key file.
import { readKeyFile } from "../files/key-file.ts";
import { TuttiError } from "../protocol/error.ts";
import { WorkerVerb } from "../protocol/operator/capability-token.ts";

export function parseVerb(text: string): WorkerVerb {
  const parsed = WorkerVerb.safeParse(text);
  if (parsed.success) return parsed.data;
  const message = `there is no verb ${JSON.stringify(text)}; use ${WorkerVerb.options.join(", ")}`;
  throw new TuttiError("invalid_input", message);
}

export async function requireKeyFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const key = await readKeyFile(path);
  if (key !== undefined) return key;
  throw new TuttiError("not_found", `there is no key file ${path}; name the one the token was minted with`);
}
