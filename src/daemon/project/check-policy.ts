// Checks a routing policy against the project that it is used in: the coding agents that it names must have a profile.

import { sessionRefs } from "../../core/route-prompt.ts";
import { toTuttiError, TuttiError } from "../../protocol/error.ts";
import { parseRunnerRef } from "../../protocol/invocation/runner-ref.ts";
import type { GivenPolicy } from "../../host/project.ts";
import { lineOfField } from "../../protocol/routing/policy-places.ts";
import { placed } from "../../protocol/routing/read-policy-file.ts";
import { readPolicy } from "../../protocol/routing/read-policy.ts";
import { profileOf, type Profiles } from "../../runner/acp/profile.ts";

/** Throws `invalid_input` with the file and the line. */
export function checkPolicy({ file, text }: GivenPolicy, profiles: Profiles): void {
  const read = readPolicy(text);
  if (!read.ok) throw read.error;
  for (const { where, model } of sessionRefs(read.value)) {
    try {
      const { profile }: { profile?: unknown } = Object(parseRunnerRef(model).config);
      profileOf(profiles, String(profile));
    } catch (thrown) {
      const line = lineOfField(text, where, model) ?? null;
      const message = placed(file, { line, message: `${where}: ${toTuttiError(thrown).message}` });
      throw new TuttiError("invalid_input", message, { cause: thrown });
    }
  }
}
