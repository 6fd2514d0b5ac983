// Checks a routing policy against the project that it is used in: the coding agents that it names must have a profile.

import { sessionRefs } from "../../core/route-prompt.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { parseRunnerRef } from "../../protocol/invocation/runner-ref.ts";
import type { GivenPolicy } from "../../host/project.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { profileOf, type Profiles } from "../../runner/acp/profile.ts";

/** Throws `invalid_input` with the file and the line. */
export function checkPolicy({ file, text }: GivenPolicy, profiles: Profiles): void {
  const read = readPolicy(text);
  if (!read.ok) throw read.error;
  for (const { where, ref } of sessionRefs(read.value)) {
    try {
      const { profile }: { profile?: unknown } = Object(parseRunnerRef(ref).config);
      profileOf(profiles, String(profile));
    } catch (thrown) {
      const message = `${file}:${lineOf(text, ref)}: ${where}: ${toTuttiError(thrown).message}`;
      throw new TuttiError("invalid_input", message, { cause: thrown });
    }
  }
}

/** The first line that has the reference; it stands in the text as it was written. */
function lineOf(text: string, ref: string): number {
  return text.split("\n").findIndex((line) => line.includes(ref)) + 1;
}
