// The floor in memory: the loop alone, without any library.
import { answer, callAt, look, pause } from "./work.js";

export async function open({ delayMs }) {
  return {
    child: () => pause(delayMs),
    async run() {
      const messages = [{ role: "user", content: "go" }];
      for (let reply = 0; ; reply += 1) {
        const call = await Promise.resolve(callAt(reply));
        if (call === undefined) return answer;
        messages.push(
          { role: "assistant", call },
          { role: "tool", id: call.id, content: await Promise.resolve(look()) },
        );
      }
    },
    close: async () => undefined,
  };
}
