// The work that every peer does: a model that calls one tool in each of nine replies and then answers, and that tool.

/** Replies of the model in one run. */
export const replies = 10;
const filler = "lorem ipsum dolor sit amet consectetur ".repeat(8);

export const look = () => filler;
export const description = "Looks something up.";
export const instructions = "Look nine times, then answer.";

/** What the reply with this number does: a call with these arguments, or undefined for the answer. */
export function callAt(reply) {
  return reply < replies - 1 ? { id: `c${reply}`, args: { turn: reply } } : undefined;
}
export const answer = "done";

const usage = { inputTokens: { total: 100, noCache: 100 }, outputTokens: { total: 20, text: 20 } };

/** A model object of the AI SDK. It counts the results in the prompt, so that one object serves many runs at once. */
export function modelObject(specificationVersion, { delayMs = 0 } = {}) {
  const contentFor = ({ prompt }) => {
    const call = callAt(prompt.filter(({ role }) => role === "tool").length);
    return call === undefined
      ? [{ type: "text", text: answer }]
      : [{ type: "tool-call", toolCallId: call.id, toolName: "look", input: JSON.stringify(call.args) }];
  };
  const finish = (content) => {
    const unified = content[0].type === "text" ? "stop" : "tool-calls";
    const isOld = specificationVersion === "v2";
    return {
      finishReason: isOld ? unified : { unified, raw: unified },
      usage: isOld ? { inputTokens: 100, outputTokens: 20, totalTokens: 120 } : usage,
    };
  };
  const wait = () => (delayMs === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, delayMs)));
  return {
    specificationVersion,
    provider: "bench",
    modelId: "bench",
    supportedUrls: {},
    async doGenerate(options) {
      await wait();
      const content = contentFor(options);
      return { content, warnings: [], ...finish(content) };
    },
    async doStream(options) {
      await wait();
      const content = contentFor(options);
      const parts = content.flatMap((part) =>
        part.type === "text"
          ? [
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: part.text },
              { type: "text-end", id: "1" },
            ]
          : [part],
      );
      const all = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", ...finish(content) }];
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of all) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}
