// Scans a whole reply from its beginning to its end, in one pass.
import { dialects, type Profile } from "./dialect.ts";
import type { ToolSchemas } from "./dialects/dialect-reading.ts";
import { readBracket } from "./read-bracket.ts";
import { readFence } from "./read-fence.ts";
import { readAngle } from "./read-tag.ts";
import { newReplyScan, type ReplyScan } from "./reply-scan.ts";
import { takeBareReply } from "./take-bare-reply.ts";
import { show } from "./visible-text.ts";

export interface ToolCallOptions {
  /** `strict` accepts the format to the letter; `tolerant`, the default, also accepts common departures from it. */
  readonly profile?: Profile;
  /** Names of the registered tools; without them every name counts as registered. */
  readonly tools?: readonly string[] | ReadonlySet<string>;
  /** The JSON Schemas of the tools' arguments, which tell the types of values that a dialect writes as plain text. */
  readonly schemas?: ToolSchemas;
  /** The provider says the reply was cut off: an unclosed last block does not run. */
  readonly cut?: boolean;
}

export function scanReply(text: string, options: ToolCallOptions, callsInside: ReplyScan["callsInside"]): ReplyScan {
  const dialect = dialects[options.profile ?? "tolerant"];
  const tools = options.tools === undefined || isSet(options.tools) ? options.tools : new Set(options.tools);
  const rules = { dialect, tools, cut: options.cut ?? false };
  const scan = newReplyScan(text, rules, { schemas: options.schemas, callsInside });

  const { nextBracket } = scan;
  takeBareReply(scan);
  while (scan.at < text.length) {
    const fence = scan.nextFence(scan.at);
    const angle = scan.nextAngle(scan.at);
    const bracket = nextBracket === undefined ? text.length : nextBracket(scan.at);
    if (fence < angle && fence < bracket) readFence(scan, fence);
    else if (bracket < angle) readBracket(scan, bracket);
    else if (angle < text.length) readAngle(scan, angle);
    else break;
  }
  show(scan.visible, text.length);
  return scan;
}

function isSet(tools: readonly string[] | ReadonlySet<string>): tools is ReadonlySet<string> {
  return tools instanceof Set;
}
