// The tool `echo`: returns the text it is given.

import { z } from "zod";

import { stepTool } from "./tool.ts";

export const echo = stepTool({
  name: "echo",
  description: "Gives the text back.",
  input: () => z.strictObject({ text: z.string() }),
  effects: ["read"],
  repeatable: true,
  run: ({ text }) => text,
});
