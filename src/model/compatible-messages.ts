// Shapes the messages for servers that speak OpenAI's chat completions: chat templates and strict servers refuse more.

import type { AssistantPart, PromptMessage, ToolPart, UserPart } from "./language-model.ts";
import type { ReasoningPolicy } from "./send-reasoning.ts";

type FilePart = Extract<UserPart, { type: "file" }>;

/** Models of Mistral refuse a message of the user right after a result. */
const wantsReplyAfterResults = /mistral|mixtral|ministral|magistral|devstral|codestral|pixtral/i;

/**
 * Messages of one role in a row become one, since many chat templates demand that user and assistant alternate. Pictures
 * in results follow in a message of the user, since a result may hold only text. `modelId` is the server's own name. The
 * messages are taken over: some of them are added to.
 */
export function compatibleMessages(
  messages: PromptMessage[],
  modelId: string,
  reasoning: ReasoningPolicy,
): PromptMessage[] {
  const shaped: PromptMessage[] = [];
  const add = (message: PromptMessage): void => {
    const before = shaped.at(-1);
    if (message.role === "user" && before?.role === "user") before.content = joinTexts(before.content, message.content);
    else if (message.role === "assistant" && before?.role === "assistant") before.content.push(...message.content);
    else {
      if (message.role === "user" && before?.role === "tool" && wantsReplyAfterResults.test(modelId)) {
        shaped.push({ role: "assistant", content: [{ type: "text", text: "I have seen the results." }] });
      }
      shaped.push(message);
    }
  };
  for (const message of messages) addApart(message, add);
  return reasoning === "always" ? shaped.map(withReasoningField) : shaped;
}

/** A server that wants `reasoning_content` wants it with every call, even if there is none to give. */
function withReasoningField(message: PromptMessage): PromptMessage {
  if (message.role !== "assistant" || !message.content.some((part) => part.type === "tool-call")) return message;
  if (message.content.some((part: AssistantPart) => part.type === "reasoning" && part.text !== "")) return message;
  return { ...message, providerOptions: { openaiCompatible: { reasoning_content: "" } } };
}

/** Some templates take only one text as content, so texts in a row become one part. */
function joinTexts(first: readonly UserPart[], second: readonly UserPart[]): UserPart[] {
  const joined: UserPart[] = [];
  for (const part of [...first, ...second]) {
    const before = joined.at(-1);
    if (part.type === "text" && before?.type === "text") {
      joined[joined.length - 1] = { type: "text", text: `${before.text}\n\n${part.text}` };
    } else joined.push(part);
  }
  return joined;
}

/** Adds the message, and the pictures of its results after it. */
function addApart(message: PromptMessage, add: (message: PromptMessage) => void): void {
  if (message.role === "user") add({ role: "user", content: joinTexts([], message.content.map(sendable)) });
  else if (message.role !== "tool" || message.content.every(isTextResult)) add(message);
  else {
    const pictures: UserPart[] = [];
    add({ role: "tool", content: message.content.map((part) => textResult(part, pictures)) });
    if (pictures.length > 0) add({ role: "user", content: pictures });
  }
}

function isTextResult(part: ToolPart): boolean {
  return part.type !== "tool-result" || part.output.type !== "content";
}

function textResult(part: ToolPart, pictures: UserPart[]): ToolPart {
  if (part.type !== "tool-result" || part.output.type !== "content") return part;
  const texts = part.output.value.map((shown) => {
    if (shown.type === "text") return shown.text;
    if (shown.type !== "file") return "(no text)";
    const sent = sendable(shown);
    if (sent.type === "text") return sent.text;
    pictures.push({ type: "text", text: `[${shown.mediaType} from the result of ${part.toolName}]` }, sent);
    return `[${shown.mediaType}: see the next message]`;
  });
  return { ...part, output: { type: "text", value: texts.join("\n\n") } };
}

/** A file of a kind that such a server cannot be sent becomes a note. */
function sendable(part: UserPart): UserPart {
  if (part.type !== "file" || canSend(part)) return part;
  return { type: "text", text: `[file ${part.filename ?? ""} ${part.mediaType}: this model cannot be shown it]` };
}

function canSend({ mediaType, data }: FilePart): boolean {
  if (/^(?:image|video|text)\//.test(mediaType)) return true;
  return data.type === "data" && /^(?:application\/pdf|audio\/(?:wav|mp3|mpeg))$/.test(mediaType);
}
