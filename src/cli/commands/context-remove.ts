// `tutti context remove`: forgets a daemon elsewhere and its key.
import { findContext, readContexts, writeContexts } from "../remote/contexts.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";

export interface ContextRemoveOptions {
  readonly json?: boolean;
}

export async function contextRemoveCommand(name: string, { json }: ContextRemoveOptions): Promise<void> {
  const known = readContexts();
  findContext(known, name);
  const { current, contexts } = known;
  const rest = Object.fromEntries(Object.entries(contexts).filter(([each]) => each !== name));
  writeContexts({ ...(current === undefined || current === name ? {} : { current }), contexts: rest });
  const text = `${name} is forgotten${current === name ? "; commands work on this machine from now on" : ""}`;
  await (json === true ? writeJson({ removed: name }) : writeLine(text));
}
