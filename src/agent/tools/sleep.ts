// The tool `sleep`: waits for some time, also across restarts.

import { z } from "zod";

import { durableTool } from "./tool.ts";

const week = 7 * 24 * 60 * 60 * 1000;

export const sleep = durableTool({
  name: "sleep",
  description: "Waits for some time before the next turn.",
  input: () => z.strictObject({ ms: z.int().nonnegative().max(week) }),
  effects: ["read"],
  waits: true,
  async run({ ms }, { durable, key }) {
    await durable.sleep(`${key}.sleep`, ms);
    return { slept_ms: ms };
  },
});
