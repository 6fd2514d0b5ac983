// A model that a program made itself with a provider's package: any version of their common interface, as the newest one.

import { TuttiError } from "../protocol/error.ts";
import type { CallOptions, LanguageModel, StreamPart } from "./language-model.ts";

/** What the packages of the AI SDK call a language model. Only what is used is named, so that every version fits. */
export interface ModelObject {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream }>;
}

export function isModelObject(value: unknown): value is ModelObject {
  if (typeof value !== "object" || value === null) return false;
  const { specificationVersion, provider, modelId, doStream } = { ...emptyObject, ...pick(value) };
  return (
    typeof specificationVersion === "string" &&
    typeof provider === "string" &&
    typeof modelId === "string" &&
    typeof doStream === "function"
  );
}

const emptyObject = { specificationVersion: undefined, provider: undefined, modelId: undefined, doStream: undefined };

/** Its fields may be getters or inherited, so they are read one by one. */
function pick(value: object): Partial<Record<keyof typeof emptyObject, unknown>> {
  return Object.fromEntries(Object.keys(emptyObject).map((name) => [name, Reflect.get(value, name)]));
}

const versions = ["v2", "v3", "v4"];

/** `provider/model`; the packages add the interface to the provider's name, as in `anthropic.messages`. */
export function objectName({ provider, modelId }: ModelObject): string {
  return `${provider.split(".", 1)[0] ?? provider}/${modelId}`;
}

/** Throws `invalid_input` for a version that is not known. */
export function newestModel(object: ModelObject): LanguageModel {
  const { specificationVersion: version } = object;
  if (!versions.includes(version)) {
    const message = `the model ${objectName(object)} has version ${version} of the AI SDK's interface; ${versions.join(", ")} can be used`;
    throw new TuttiError("invalid_input", message);
  }
  if (isNewest(object)) return object;
  return {
    specificationVersion: "v4",
    provider: object.provider,
    modelId: object.modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new TuttiError("internal", "Tutti streams every reply")),
    async doStream(options) {
      const asked: unknown = { ...options, prompt: options.prompt.map(olderMessage) };
      const { stream } = await streamOf(object, asked);
      return { stream: stream.pipeThrough(newerParts()) };
    },
  };
}

function isNewest(object: ModelObject): object is ModelObject & LanguageModel {
  return object.specificationVersion === "v4";
}

async function streamOf(object: ModelObject, options: unknown): Promise<{ readonly stream: ReadableStream<unknown> }> {
  const doStream: unknown = Reflect.get(object, "doStream");
  if (typeof doStream !== "function") throw new TuttiError("invalid_input", "the model cannot stream");
  return doStream.call(object, options);
}

type Message = CallOptions["prompt"][number];

/** Before version 4 a file was its data or its address itself, and files in results had names of their own. */
function olderMessage(message: Message): unknown {
  if (message.role === "system") return message;
  return { ...message, content: message.content.map(olderPart) };
}

function olderPart(part: Exclude<Message, { role: "system" }>["content"][number]): unknown {
  if (part.type === "file") return { ...part, data: olderData(part.data) };
  if (part.type !== "tool-result" || part.output.type !== "content") return part;
  const value = part.output.value.map((item) => {
    if (item.type !== "file") return item;
    const { data, mediaType } = item;
    if (data.type === "data") return { type: "file-data", data: data.data, mediaType };
    return data.type === "url" ? { type: "file-url", url: data.url.toString() } : item;
  });
  return { ...part, output: { ...part.output, value } };
}

function olderData(data: Extract<Message["content"][number], { type: "file" }>["data"]): unknown {
  if (data.type === "data") return data.data;
  return data.type === "url" ? data.url : data;
}

/** Version 2 counted tokens in one flat object and had a plain word for why a reply ended. */
function newerParts(): TransformStream<unknown, StreamPart> {
  return new TransformStream({
    transform(part: unknown, controller) {
      const newer: unknown = isFinish(part) ? { ...part, ...newerEnd(part) } : part;
      if (isPart(newer)) controller.enqueue(newer);
    },
  });
}

interface OlderFinish {
  readonly finishReason: unknown;
  readonly usage: unknown;
}

function isFinish(part: unknown): part is OlderFinish {
  return isPart(part) && part.type === "finish" && "usage" in part;
}

/** What is in a part is read with care where it is used; only its type is needed here. */
function isPart(part: unknown): part is StreamPart {
  return typeof part === "object" && part !== null && "type" in part && typeof part.type === "string";
}

function newerEnd({ finishReason, usage }: OlderFinish): Record<string, unknown> {
  const reason =
    typeof finishReason === "string"
      ? { unified: finishReason === "unknown" ? "other" : finishReason, raw: finishReason }
      : finishReason;
  const counts = new Map(Object.entries(Object(usage)));
  const input = counts.get("inputTokens");
  if (typeof input === "object" && input !== null) return { finishReason: reason, usage };
  return {
    finishReason: reason,
    usage: {
      inputTokens: { total: input, cacheRead: counts.get("cachedInputTokens") },
      outputTokens: { total: counts.get("outputTokens"), reasoning: counts.get("reasoningTokens") },
    },
  };
}
