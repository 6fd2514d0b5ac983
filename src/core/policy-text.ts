// A routing policy as text with comments that explain each part, for a person who will edit it.

import { encodePolicy } from "../protocol/routing/encode-policy.ts";
import type { Policy } from "../protocol/routing/policy.ts";

const head = `# The routing policy of this project: which model gets a task of a goal, and who reviews the result.
# A goal keeps the policy that it started with. After an edit, look for mistakes with \`tutti policy check\` and agree to the
# new content with \`tutti trust\`. \`tutti policy explain "a task"\` says where a task would go, and why.
`;

/** By the beginning of the line that the comment stands above. */
const comments: readonly (readonly [RegExp, string])[] = [
  [
    /^policy:/,
    "Who does what. A model is provider/model (see `tutti models`), a coding agent acp:PROFILE or acp:PROFILE/MODEL.",
  ],
  [/^ {2}router:/, "Decides: architecture, triage, and what to do after failures."],
  [/^ {2}info:/, "Looks things up: research, documentation, comparisons."],
  [/^ {2}build:/, "Does the work: code, tests, debugging."],
  [/^ {2}escalate_to:/, "Gets whatever is risky, contradictory, unclear or below the confidence."],
  [/^ {2}conf_threshold:/, "How sure (0 to 1) the author of a task must be; below, the task goes to escalate_to."],
  [/^fallbacks:/, "Models to try, in this order, when the model of a role fails."],
  [/^routing:/, "Rules of your own, `words => model`, for tasks that no built-in word decides."],
  [/^gate:/, "What a handoff must contain, and what happens when a check fails."],
  [/^review:/, "When the result of a task is reviewed: always, risk (what escalated), never."],
  [/^words:/, "boundary: whole words count. substring: `latest` contains `test`."],
];

/** `readPolicy` gives the same policy back. `agents` are profiles of coding agents that could do the work instead. */
export function policyText(policy: Policy, { agents = [] }: { readonly agents?: readonly string[] } = {}): string {
  const lines = encodePolicy(policy)
    .split("\n")
    .flatMap((line) => {
      const comment = comments.find(([begin]) => begin.test(line))?.[1];
      if (comment === undefined) return [line];
      const others = line.startsWith("  build:") ? agents.map((name) => `  # build: acp:${name}`) : [];
      return [`${/^ */.exec(line)?.[0] ?? ""}# ${comment}`, ...others, line];
    });
  return `${head}\n${lines.join("\n")}`;
}
