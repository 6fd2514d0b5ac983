// The documents of a state folder that one machine uses: private files, which commands may change while a daemon runs.

import { join } from "node:path";

import { replacePrivateFile } from "../../files/private-file.ts";
import { readOptionalFile } from "../../files/read-optional-file.ts";
import { makeFolder } from "../../store/sqlite/database.ts";
import { withShortLock } from "../../store/sqlite/short-lock.ts";
import type { Documents } from "./documents.ts";

export function fileDocuments(state: string): Documents {
  // Nothing is awaited: commands and tests rely on the file being there when the call returns.
  const change: Documents["change"] = async (name, work) => {
    const path = join(state, name);
    makeFolder(state);
    return withShortLock(`${path}.lock`, () => {
      const { after, result } = work(readOptionalFile(path));
      if (after !== undefined) replacePrivateFile(path, after);
      return result;
    });
  };
  return {
    placeOf: (name) => join(state, name),
    read: (name) => readOptionalFile(join(state, name)),
    change,
    takeBack: change,
    projectOf: (folder) => folder,
    key: undefined,
    by: undefined,
  };
}
