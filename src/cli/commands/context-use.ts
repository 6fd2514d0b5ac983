// `tutti context use`: chooses the daemon elsewhere for commands that name none.
import { findContext, localName, readContexts, writeContexts } from "../remote/contexts.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface ContextUseOptions {
  readonly json?: boolean;
}

export async function contextUseCommand(name: string, { json }: ContextUseOptions): Promise<void> {
  const { contexts } = readContexts();
  if (name === localName) {
    writeContexts({ contexts });
    return json === true ? writeJson({ current: name }) : writeLine("commands work on this machine from now on");
  }
  const { url } = findContext({ contexts }, name);
  writeContexts({ current: name, contexts });
  const text = `commands work with ${url} from now on; \`tutti context use ${localName}\` goes back to this machine`;
  await (json === true ? writeJson({ current: name, url }) : writeLine(text));
}
