// A loop that writes ten kilobytes a turn and reports which turns are durable.

import { z } from "zod";

import type { Runner } from "../../src/ports.ts";

const turns = 60;

export function fillUp(durable: (turn: number) => void): Runner {
  return async (d) => {
    const lengths: number[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      const said = await d.step(`turn${turn}`, { repeatable: true, schema: z.string() }, () =>
        `${turn}`.repeat(10_000),
      );
      lengths.push(said.length);
      // A step that may not be repeated begins only when all before it is on disk.
      await d.step(`tell${turn}`, { repeatable: false, schema: z.null() }, () => {
        durable(turn);
        return null;
      });
    }
    return lengths.length;
  };
}
