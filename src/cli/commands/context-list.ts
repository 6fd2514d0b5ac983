// `tutti context list`: lists the daemons elsewhere that have a name.
import { localName, readContexts } from "../remote/contexts.ts";
import { writeJson } from "../terminal/screen.ts";
import { writeTable } from "../terminal/table.ts";

export interface ContextListOptions {
  readonly json?: boolean;
}

export async function contextListCommand({ json }: ContextListOptions): Promise<void> {
  const { current = localName, contexts } = readContexts();
  const listed = Object.entries(contexts).map(([name, { url, key, key_file, insecure = false }]) => {
    const keyed = key !== undefined ? "kept here" : (key_file ?? "none");
    return { name, url, key: keyed, insecure, current: name === current };
  });
  if (json === true) return writeJson({ current, contexts: listed });
  const here = { name: localName, url: "this machine", key: "", current: current === localName };
  await writeTable(
    [here, ...listed].map(({ name, url, key, current: inUse }) => ({
      mark: inUse ? "*" : " ",
      cells: [name, url, key === "" ? "" : `key: ${key}`],
    })),
  );
}
