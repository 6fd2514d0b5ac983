// An operator's socket that is sent frames of every wrong kind, and some right ones.

import { WebSocket } from "ws";

import { strangeText } from "./make-value.ts";
import type { Operator } from "./known-ids.ts";
import type { Chance } from "../support/seeded-random.ts";

const hangMs = 60_000;

export type NoiseOutcome = "closed" | "hang" | "refused";

/** The service may close it for what it was sent; it must answer the closing when we close. */
export function socketNoise(chance: Chance, url: URL, { sid, token }: Operator): Promise<NoiseOutcome> {
  const socket = new WebSocket(`ws://${url.host}/v1/operators/${sid}/ws`, chance.oneIn(2) ? ["tutti.v1"] : [], {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: hangMs,
  });
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      resolve("hang");
      socket.terminate();
    }, hangMs);
    const done = (outcome: NoiseOutcome): void => {
      clearTimeout(limit);
      resolve(outcome);
    };
    socket.on("open", () => {
      for (let left = 1 + chance.below(20); left > 0; left -= 1) socket.send(frame(chance, sid));
      if (chance.oneIn(3)) socket.ping(Buffer.from("x"));
      if (chance.oneIn(6)) socket.terminate();
      else socket.close(chance.pick([1000, 1001, 3000, 4000]));
    });
    socket.on("close", () => done("closed"));
    socket.on("unexpected-response", () => done("refused"));
    socket.on("error", () => done("refused"));
  });
}

function frame(chance: Chance, sid: string): string | Buffer {
  const id = `${sid}-${chance.pick(["ask", "hb", "ha", "spawn", "x"])}-00000000-0000-4000-8000-${String(chance.below(1e9)).padStart(12, "0")}`;
  switch (chance.below(8)) {
    case 0:
      return Buffer.from(Array.from({ length: 1 + chance.below(200) }, () => chance.below(256)));
    case 1:
      return strangeText(chance);
    case 2:
      return "[".repeat(10_000);
    case 3:
      return JSON.stringify({ type: "answer", req_id: "x".repeat(chance.pick([1, 100_000, 1_200_000])), value: 1 });
    case 4:
      return JSON.stringify({ type: strangeText(chance), req_id: id });
    case 5:
      return JSON.stringify({ type: "hook_ack", req_id: id, ok: chance.pick<unknown>([true, false, "yes", null]) });
    case 6:
      return JSON.stringify({
        type: "spawn_ack",
        req_id: id,
        value: strangeText(chance),
        error: chance.pick<unknown>([null, 1, "e"]),
      });
    default:
      return JSON.stringify({ type: "answer", req_id: id, value: strangeText(chance) });
  }
}
