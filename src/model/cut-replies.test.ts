// A reply stream that is cut: at every byte, in every wire, it is whole or not at all.

import assert from "node:assert/strict";
import { test } from "node:test";

import { TuttiError } from "../protocol/error.ts";
import type { Clock } from "../ports.ts";
import type { ModelReply } from "../model-port.ts";
import { messageText } from "../protocol/task/message.ts";
import { hurried, idle, model, request, wires } from "../../test/support/model-server-models.ts";
import { modelServer } from "../../test/support/model-server.ts";
import { framesOf, type ScriptedReply, type Wire } from "../../test/support/model-server-wires.ts";

const reply: ScriptedReply = {
  text: ["Look ☔"],
  calls: [{ id: "c1", name: "weather", args: '{"city":"Gö"}' }],
};

/** Pauses take no time; limits are never reached. */
const still: Clock = {
  now: () => 0,
  timer(ms, fire) {
    if (ms < 60_000) queueMicrotask(fire);
    return () => undefined;
  },
};

function contentOf({ message, finish, malformed }: ModelReply): string {
  return JSON.stringify([message, finish, malformed]);
}

/** In place of the network: the first bytes of the stream, then its end; asked again, a refusal that ends the call. */
function cutFetch(bytes: Uint8Array, end: "clean" | "broken"): typeof fetch {
  let asked = false;
  return async () => {
    if (asked) return new Response("{}", { status: 418 });
    asked = true;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        if (bytes.length > 0) controller.enqueue(bytes);
        if (end === "clean") controller.close();
      },
      // Only when all was read, as a connection that breaks later does.
      pull(controller) {
        if (end === "broken") controller.error(new TypeError("terminated"));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

/** Every byte where the end looks well; where it does not, the ends of all events and every seventeenth byte. */
function placesToCut(wire: Wire, end: "clean" | "broken"): number[] {
  const frames = framesOf(wire, reply);
  const ends = frames.map((_, index) => Buffer.byteLength(frames.slice(0, index + 1).join("")));
  const length = ends.at(-1) ?? 0;
  const all = Array.from({ length: length + 1 }, (_, index) => index);
  return end === "clean" ? all : all.filter((at) => at % 17 === 0 || ends.includes(at) || ends.includes(at + 1));
}

for (const wire of wires) {
  for (const end of ["clean", "broken"] as const) {
    test(`${wire}: cut at any place (${end} end), a reply is whole or not at all (invariant 10)`, async () => {
      const bytes = Buffer.from(framesOf(wire, reply).join(""));
      let network = cutFetch(bytes, "clean");
      const send: typeof fetch = (input, init) => network(input, init);
      const here = model(wire, { origin: "http://127.0.0.1:9" }, { clock: still, fetch: send });
      const whole = contentOf(await here.call(request(), { signal: idle }));
      assert.match(whole, /"input":\{"city":"Gö"\}/);
      let [wholes, refused] = [0, 0];
      for (const at of placesToCut(wire, end)) {
        network = cutFetch(bytes.subarray(0, at), end);
        try {
          assert.equal(
            contentOf(await here.call(request(), { signal: idle })),
            whole,
            `cut at byte ${at} of ${bytes.length}`,
          );
          wholes += 1;
        } catch (thrown) {
          // The second request was made, so the first reply was dropped.
          assert.ok(thrown instanceof TuttiError, `cut at byte ${at}: ${String(thrown)}`);
          assert.equal(thrown.details?.["status"], 418, thrown.message);
          refused += 1;
        }
      }
      assert.ok(refused > (wholes + refused) * 0.6, `${refused} were refused, ${wholes} taken`);
      assert.equal(wholes > 0, end === "clean");
    });
  }

  test(`${wire}: over a real connection a reply that breaks off is asked for again, and what was lost is counted`, async (context) => {
    const length = Buffer.from(framesOf(wire, reply).join("")).length;
    const half = Math.floor(length * 0.85);
    for (const bytes of [1, Math.floor(length / 2), half, length]) {
      const server = await modelServer(context, wire, [
        { reply, bytes, end: "broken" },
        { reply: { text: ["again"] } },
      ]);
      const here = model(wire, server, { clock: hurried });
      const told: string[] = [];
      const got = await here.call(request(), { signal: idle, onRetry: ({ reason }) => told.push(reason) });
      assert.equal(messageText(got.message), "again");
      assert.equal(server.received.length, 2);
      assert.equal(told.length, 1);
      if (bytes >= half) assert.ok(got.usage.input_tokens > 20, "the tokens of the broken try are in the sum");
    }
  });
}
