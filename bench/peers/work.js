// The work that every peer does: a model that calls one tool in each of nine replies and then answers, that tool, and a model
// of children that answers at once, after the time that a call takes.

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

/** The time that a call of a child's model takes; nothing when it takes none. */
export const pause = (ms) => (ms === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms)));

/** The bytes of what is said in one run, in the least that tells the messages apart. */
export function contentBytes() {
  let bytes = JSON.stringify({ role: "user", content: "go" }).length;
  for (let reply = 0; reply < replies; reply += 1) {
    const call = callAt(reply);
    bytes += JSON.stringify({ role: "assistant", call: call ?? answer }).length;
    if (call !== undefined) bytes += JSON.stringify({ role: "tool", id: call.id, content: look() }).length;
  }
  return bytes;
}

const usage = { inputTokens: { total: 100, noCache: 100 }, outputTokens: { total: 20, text: 20 } };

/**
 * A model object of the AI SDK. It counts the results in the prompt, so that one object serves many runs at once. `delayMs`: it
 * is the model of a child, answers at once and takes this time for it.
 */
export function modelObject(specificationVersion, { delayMs } = {}) {
  const contentFor = ({ prompt }) => {
    const call = delayMs !== undefined ? undefined : callAt(prompt.filter(({ role }) => role === "tool").length);
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
  const wait = () => pause(delayMs ?? 0);
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
