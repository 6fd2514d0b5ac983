// The MCP tools for asks: what tasks wait for, and answers to their questions. Approvals are a person's, unless the key is an admin's.

import { z } from "zod";

import { isDayQuestion } from "../../core/day-question.ts";
import { Answer } from "../../protocol/task/ask.ts";
import { TuttiError } from "../../protocol/error.ts";
import { AskId, TaskId } from "../../protocol/ids.ts";
import type { LocalTutti } from "../state/local-client.ts";
import { answererOf, type McpTool, mcpTool } from "./mcp-tool.ts";

const AboutAsk = z.strictObject({ ask: AskId });
const refusals = { late: "conflict", unknown: "not_found", invalid: "invalid_input" } as const;

export function askTools(client: LocalTutti): McpTool[] {
  return [
    mcpTool({
      name: "ask_list",
      description: "Lists what tasks wait for, the oldest first: questions, approvals and limits that were reached.",
      access: "viewer",
      readOnly: true,
      input: z.strictObject({ task: TaskId.optional() }),
      run: async ({ task }) => ({ asks: (await client.asks(task)).slice(0, 100) }),
    }),
    mcpTool({
      name: "ask_show",
      description: "Shows an ask in full: the question, its details, the choices and the schema of the answer.",
      access: "viewer",
      readOnly: true,
      input: AboutAsk,
      run: ({ ask }) => client.ask(ask),
    }),
    mcpTool({
      name: "ask_answer",
      description:
        'Answers a question of a task: {"kind": "question", "value": …}. Approvals and budgets are for a person to ' +
        "decide; the key of an admin can answer them here for work that a person started, and not for a program's.",
      access: "operator",
      readOnly: false,
      input: AboutAsk.extend({ answer: Answer }),
      async run({ ask, answer }, { caller }) {
        const { kind, details } = await client.ask(ask);
        const isAdmin = caller.kind === "key" && caller.role === "admin";
        // A model that could approve what a model wants to do would make approvals worth nothing.
        if ((kind !== "question" || isDayQuestion(details)) && !isAdmin) {
          const how = "a person decides it, with `tutti answer` or in a terminal";
          throw new TuttiError("refused", `${ask} is ${kind === "approval" ? "an approval" : "about a limit"}; ${how}`);
        }
        const delivered = await client.answer(ask, answer, answererOf(caller));
        if (!delivered.accepted) throw new TuttiError(refusals[delivered.code], delivered.message);
        return { accepted: true };
      },
    }),
  ];
}
