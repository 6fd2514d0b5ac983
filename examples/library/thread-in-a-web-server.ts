// A web server that keeps a conversation for each visitor: every request is a run, and the thread has all of them.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { agent, openTutti, TuttiError } from "tutti";
import { script } from "tutti/testing";

const guide = agent({
  name: "guide",
  instructions: "Help people with their printers.",
  model: script("Is it plugged in?", "Then plug it in.", "Glad to help."),
});

await using tutti = await openTutti({ memory: true, agents: [guide] });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const visitor = new URL(request.url ?? "/", "http://localhost").searchParams.get("visitor") ?? "anybody";
  try {
    const run = await tutti.thread(`visitor ${visitor}`).say(guide, await text(request));
    response.end(await run.result());
  } catch (thrown) {
    // The visitor has sent a message before the last one was answered.
    const isBusy = thrown instanceof TuttiError && thrown.code === "conflict";
    response.writeHead(isBusy ? 409 : 500).end(isBusy ? "Wait for the answer first." : "Something went wrong.");
  }
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

const say = async (visitor: string, words: string): Promise<void> => {
  const reply = await fetch(`http://127.0.0.1:${port}/?visitor=${visitor}`, { method: "POST", body: words });
  console.log(`${visitor}: ${words} -> ${await reply.text()}`);
};
await say("ann", "My printer is dead.");
await say("bob", "Mine is, too.");
await say("ann", "No.");
const { messages } = await tutti.thread("visitor ann").messages();
console.log(`${messages.length} messages with ann`);
server.closeAllConnections();
server.close();
