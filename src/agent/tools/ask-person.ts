// The tool `ask`: asks a person a question or for an approval, and gives the model the answer, or says that there was none.

import { z } from "zod";

import { Answer, expiryMeaning } from "../../protocol/task/ask.ts";
import { agreementAskedBy } from "../../core/foreign-words.ts";
import { withoutNulls } from "../loop/without-nulls.ts";
import { durableTool } from "./tool.ts";

export const ask = durableTool({
  name: "ask",
  description:
    "Asks a person: a question, answered with text, or an approval, answered with yes or no. Waits for the answer.",
  input: () =>
    z.strictObject({
      question: z.string().min(1),
      kind: z.enum(["question", "approval"]).nullish(),
      choices: z.array(z.string().min(1)).min(1).nullish().describe("The answers a question may have."),
      within_ms: z.int().positive().nullish().describe("How long to wait; a day when absent."),
    }),
  effects: ["read"],
  waits: true,
  async run({ question, kind, choices, within_ms }, { durable, key }) {
    const asked = kind ?? "question";
    const waited = await durable.wait(`${key}.wait`, {
      ask: {
        kind: asked,
        question: asked === "approval" ? agreementAskedBy(durable.agent, question) : question,
        ...withoutNulls({ choices }),
      },
      ...withoutNulls({ within: within_ms }),
      schema: Answer,
    });
    if ("expired" in waited) {
      const meaning = expiryMeaning[asked];
      return asked === "approval"
        ? { approved: false, expired: true, meaning, note: "Nobody answered in time, which counts as no." }
        : { answered: false, expired: true, meaning, note: "Nobody answered in time." };
    }
    const { value, by } = waited;
    if (value.kind === "approval") {
      return { approved: value.approved, ...(value.reason === undefined ? {} : { reason: value.reason }), by: by.name };
    }
    return { answered: true, value: value.kind === "question" ? value.value : null, by: by.name };
  },
});
