// The tool `echo`: gives back what it is told.

import { z } from "zod";

import { stepTool } from "./tool.ts";

export const echo = stepTool({
  name: "echo",
  description: "Gives the text back.",
  input: z.strictObject({ text: z.string() }),
  effects: ["read"],
  repeatable: true,
  run: ({ text }) => text,
});
