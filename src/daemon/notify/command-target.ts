// Gives notices to a command of the user: as JSON on its input, and the main fields as environment variables.

import { escapeControls } from "../../core/escape-controls.ts";
import type { Environment } from "../../model/resolve-model.ts";
import type { Clock } from "../../ports.ts";
import type { Log } from "../log/log.ts";
import type { Notice } from "./notice.ts";
import { runProgram } from "./run-program.ts";
import type { Target } from "./target.ts";

const timeoutMs = 30_000;
const maxAgeMs = 24 * 60 * 60 * 1000;

export interface ProgramContext {
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Pick<Log, "info">;
}

export function commandTarget(argv: readonly string[], { env, clock, log }: ProgramContext): Target {
  return {
    name: "command",
    maxTries: 3,
    maxAgeMs,
    recordsTryFirst: true,
    async send(notice, body, signal) {
      const input = `${body}\n`;
      const given = { ...env, ...variablesOf(notice) };
      const { problem, output } = await runProgram(argv, { env: given, input, timeoutMs, clock, signal });
      if (output !== "") log.info({ notice: notice.id, output }, "output of the notification command");
      return problem === undefined ? { outcome: "delivered" } : { outcome: "failed", reason: problem };
    },
  };
}

function variablesOf({ id, kind, task, root, agent, title, text, ask, answer_with }: Notice): Record<string, string> {
  const variables = {
    TUTTI_NOTICE: id,
    TUTTI_KIND: kind,
    TUTTI_TASK: task,
    TUTTI_ROOT: root,
    TUTTI_AGENT: agent,
    TUTTI_TITLE: title,
    TUTTI_TEXT: text,
    TUTTI_ASK: ask?.id ?? "",
    TUTTI_ANSWER_WITH: answer_with ?? "",
  };
  // A program may print them on a terminal, and an environment variable cannot hold a NUL.
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, escapeControls(value)]));
}
