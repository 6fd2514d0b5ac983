// Names the caller of a request as whoever answers: by the name of the key. A program answers as an operator does.

import type { Answerer } from "../../../protocol/task/ask.ts";
import { type Caller, programOf } from "../authorize.ts";

export function answererOf(caller: Caller): Answerer {
  const kind = programOf(caller) === undefined ? "person" : "operator";
  return { kind, name: caller.kind === "key" ? caller.name : caller.kind };
}
