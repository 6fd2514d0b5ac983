// The frames of the Agent Client Protocol that we use. They are read loosely: fields we do not know are kept, not refused.

import { z } from "zod";

export const protocolVersion = 1;

/** What an agent may answer with an error when nobody is logged in. */
export const authRequired = -32_000;

const text = z.string();
const Implementation = z.looseObject({ name: text, version: text.catch("") });

export const InitializeResult = z.looseObject({
  protocolVersion: z.number(),
  agentCapabilities: z.looseObject({ loadSession: z.boolean().catch(false) }).catch({ loadSession: false }),
  agentInfo: Implementation.nullish().catch(null),
});

const Modes = z.looseObject({
  currentModeId: text,
  availableModes: z.array(z.looseObject({ id: text })).catch([]),
});

const ConfigOption = z.looseObject({ id: text, category: text.nullish() });

/** Of `session/new`; `session/load` answers the same without the id. */
export const SessionResult = z.looseObject({
  sessionId: text.optional(),
  modes: Modes.nullish().catch(null),
  configOptions: z.array(ConfigOption).nullish().catch(null),
});
export type SessionResult = z.infer<typeof SessionResult>;

const count = z.int().nonnegative();
/** Sums over the whole session. */
export const TokenUsage = z.looseObject({ inputTokens: count, outputTokens: count });
export type TokenUsage = z.infer<typeof TokenUsage>;

/** What Gemini says it used, for this prompt alone. */
const Quota = z.looseObject({ token_count: z.looseObject({ input_tokens: count, output_tokens: count }) });

export const PromptResult = z.looseObject({
  stopReason: text,
  /** Sums over the session. */
  usage: TokenUsage.nullish().catch(null),
  _meta: z
    .looseObject({ quota: Quota.nullish().catch(null) })
    .nullish()
    .catch(null),
});
export type PromptResult = z.infer<typeof PromptResult>;

const ContentBlock = z.looseObject({ type: text, text: text.optional() });

const Diff = z.looseObject({
  type: z.literal("diff"),
  path: text,
  oldText: text.nullish(),
  newText: text,
});
export type Diff = z.infer<typeof Diff>;

/** Content of a kind that we do not know is kept as it came. */
const ToolContent = z.union([
  Diff,
  z.looseObject({ type: z.literal("content"), content: ContentBlock }),
  z.looseObject({ type: text }),
]);

/** A tool call or an update of one: what an update leaves out stays as it was. */
export const ToolCallUpdate = z.looseObject({
  toolCallId: text,
  title: text.nullish(),
  name: text.nullish(),
  kind: text.nullish(),
  status: text.nullish(),
  content: z.array(ToolContent).nullish(),
  locations: z.array(z.looseObject({ path: text })).nullish(),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
});
export type ToolCallUpdate = z.infer<typeof ToolCallUpdate>;

export function diffsIn(call: Pick<ToolCallUpdate, "content">): Diff[] {
  return (call.content ?? []).flatMap((part) => Diff.safeParse(part).data ?? []);
}

export const SessionNotification = z.looseObject({
  sessionId: text,
  update: z.looseObject({ sessionUpdate: text }),
});

export const MessageChunk = z.looseObject({ content: ContentBlock, messageId: text.nullish() });
export const UsageUpdate = z.looseObject({
  cost: z.looseObject({ amount: z.number().nonnegative(), currency: text }).nullish(),
});
export const ModeUpdate = z.looseObject({ currentModeId: text });

export const PermissionOption = z.looseObject({ optionId: text, name: text.catch(""), kind: text });
export type PermissionOption = z.infer<typeof PermissionOption>;

export const PermissionRequest = z.looseObject({
  sessionId: text,
  toolCall: ToolCallUpdate,
  options: z.array(PermissionOption),
});
export type PermissionRequest = z.infer<typeof PermissionRequest>;

export const ReadFileRequest = z.looseObject({ path: text, line: count.nullish(), limit: count.nullish() });
export const WriteFileRequest = z.looseObject({ path: text, content: text });

export const CreateTerminalRequest = z.looseObject({
  command: text,
  args: z.array(text).nullish(),
  env: z.array(z.looseObject({ name: text, value: text })).nullish(),
  cwd: text.nullish(),
  outputByteLimit: count.nullish(),
});
export type CreateTerminalRequest = z.infer<typeof CreateTerminalRequest>;
export const TerminalRequest = z.looseObject({ terminalId: text });
