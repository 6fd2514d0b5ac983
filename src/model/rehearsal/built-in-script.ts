// The script that is played when an agent runs and no model is set up: it shows the agent's tools at work and says what it is.

import type { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import type { RehearsalRule, RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";

const announced =
  "This is a rehearsal: no model is set up, so a built-in script plays the agent. It shows real tools at work.";
const nothingAnswered = "This was a rehearsal: no model was called, and nobody read your message.";
const advice =
  "To get an answer, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name a local model with " +
  "`--model ollama/NAME`, and run the command again. `tutti models` lists what can be used.";

const ended = (what: string): string => `${nothingAnswered} ${what}\n${advice}`;

/** The first file with text, otherwise the first file, in what `list` answered. */
const listedFiles = [`"path":"([^"\\\\]+\\.(?:md|txt))","kind":"file"`, `"path":"([^"\\\\]+)","kind":"file"`];
/** The first line of what `read` answered. */
const readHeader = String.raw`\[([^\n]+), lines 1 to \d+ of \d+\]`;

/** `ownFile` is the agent's definition, if it lies in the folder that the agent works in: it is read where there is no other file. */
export function builtInScript(
  { tools, output_schema }: Pick<AgentDefinition, "tools" | "output_schema">,
  ownFile: string | undefined,
): RehearsalScript {
  const has = (tool: string): boolean => tools === undefined || tools.includes(tool);
  const read = (path: string): RehearsalRule["call"] => [{ tool: "read", args: { path } }];
  const end = (what: string): Pick<RehearsalRule, "final" | "fail"> =>
    output_schema === undefined
      ? { final: ended(what) }
      : {
          fail: {
            code: "task_failed",
            message: `${ended(what)} A rehearsal cannot make the result that output_schema asks for.`,
          },
        };
  if (!has("list")) {
    return { rules: [{ ...end("The agent does not have the tool `list`, so there was nothing to show.") }] };
  }
  const looking: RehearsalRule = { turn: 0, say: announced, call: [{ tool: "list", args: { path: "." } }] };
  const listed = "The tool `list` looked at the folder.";
  if (!has("read")) return { rules: [looking, end(listed)] };
  return {
    rules: [
      looking,
      ...listedFiles.map((regex) => ({ turn: 1, last: { regex }, call: read("{{1}}") })),
      ...(ownFile === undefined ? [] : [{ turn: 1, call: read(ownFile) }]),
      {
        turn: 2,
        last: { regex: readHeader },
        ...end("The tool `list` looked at the folder, and `read` read {{1}}."),
      },
      { ...end(listed) },
    ],
  };
}
