// Names the caller of a request as the person who answers: by the name of the key.

import type { Answerer } from "../../../protocol/task/ask.ts";
import type { Caller } from "../authorize.ts";

export function answererOf(caller: Caller): Answerer {
  return { kind: "person", name: caller.kind === "key" ? caller.name : caller.kind };
}
