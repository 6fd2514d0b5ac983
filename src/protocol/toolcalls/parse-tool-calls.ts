// Reads a whole reply in the fenced tool-call format: calls, errors, violations, prose and reasoning, in one pass.
import { dialects, type Profile } from "./dialect.ts";
import { listViolations, wordErrors } from "./findings.ts";
import { readFence } from "./read-fence.ts";
import { noteOtherDialect, readAngle } from "./read-tag.ts";
import { newReplyScan, takeBareObject } from "./reply-scan.ts";
import type { ToolCallReply } from "./tool-call.ts";
import { joinVisible, show } from "./visible-text.ts";

export interface ToolCallOptions {
  /** `strict` accepts the format to the letter; `tolerant`, the default, also accepts common departures from it. */
  readonly profile?: Profile;
  /** Names of the registered tools; without them every name counts as registered. */
  readonly tools?: readonly string[] | ReadonlySet<string>;
  /** The provider says the reply was cut off: an unclosed last block does not run. */
  readonly cut?: boolean;
}

/** Never throws, whatever the text; linear in its length. */
export function parseToolCalls(text: string, options: ToolCallOptions = {}): ToolCallReply {
  const dialect = dialects[options.profile ?? "tolerant"];
  const tools = options.tools === undefined || isSet(options.tools) ? options.tools : new Set(options.tools);
  const scan = newReplyScan(text, { dialect, tools, cut: options.cut ?? false });

  takeBareObject(scan);
  while (scan.at < text.length) {
    const fence = scan.nextFence(scan.at);
    const angle = scan.nextAngle(scan.at);
    if (fence >= text.length && angle >= text.length) break;
    if (fence < angle) readFence(scan, fence);
    else readAngle(scan, angle);
  }
  show(scan.visible, text.length);

  const { prose, reasoning } = joinVisible(scan.visible);
  const word = dialect.otherWords.find((start) => prose.startsWith(start));
  if (word !== undefined) noteOtherDialect(scan.findings, word);
  return {
    calls: scan.findings.calls,
    errors: wordErrors(text, scan.findings),
    violations: listViolations(scan.findings),
    prose,
    reasoning,
    ignored: scan.ignored,
  };
}

function isSet(tools: readonly string[] | ReadonlySet<string>): tools is ReadonlySet<string> {
  return tools instanceof Set;
}
