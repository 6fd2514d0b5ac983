// `tutti context use`: chooses the daemon that commands work with which name no other.
import { findContext, localName, readContexts, writeContexts } from "../remote/contexts.ts";
import { writeLine } from "../terminal/screen.ts";

export interface ContextUseOptions {
  readonly json?: boolean;
}

export async function contextUseCommand(name: string, { json }: ContextUseOptions): Promise<void> {
  const { contexts } = readContexts();
  if (name === localName) {
    writeContexts({ contexts });
    return writeLine(json === true ? JSON.stringify({ current: name }) : "commands work on this machine from now on");
  }
  const { url } = findContext({ contexts }, name);
  writeContexts({ current: name, contexts });
  const text = `commands work with ${url} from now on; \`tutti context use ${localName}\` goes back to this machine`;
  await writeLine(json === true ? JSON.stringify({ current: name, url }) : text);
}
