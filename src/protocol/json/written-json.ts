// Reads JSON that a person or a program wrote for Tutti, such as a file or an answer, and says what is wrong with it.

import { readStrictJson } from "./strict-json.ts";

export type WrittenJson =
  | { readonly ok: true; readonly value: unknown }
  /** `isJson`: it is JSON, and cannot be used nevertheless. `problem` completes a sentence that begins with what was read. */
  | { readonly ok: false; readonly isJson: boolean; readonly problem: string };

const maxDepth = 128;

/** A key that an object names twice is refused: readers disagree about which of its values counts. */
export function readWrittenJson(text: string): WrittenJson {
  const read = readStrictJson(text, { maxDepth });
  if (read.ok) return read;
  switch (read.fault) {
    case "bad_json":
      return { ok: false, isJson: false, problem: `is not JSON: ${read.reason ?? "it cannot be parsed"}` };
    case "duplicate_key": {
      const key = JSON.stringify(read.key.slice(0, 60));
      return { ok: false, isJson: true, problem: `names the key ${key} twice in one object; name each key once` };
    }
    case "number_out_of_range":
      return {
        ok: false,
        isJson: true,
        problem: `has the number ${read.number}, which cannot be kept as it is; write it as text`,
      };
    case "too_deep":
    case "too_large":
    case "too_many_values":
      return { ok: false, isJson: true, problem: `is nested deeper than ${maxDepth} levels` };
  }
}
