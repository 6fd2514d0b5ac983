// The runner `attended`: runs workflows whose code is in a process that attends the run; a process that is lost is followed by the next.

import type { AgentEnvironment } from "../../agent/agent-environment.ts";
import { untilAttended } from "../../agent/when-attended.ts";
import { treeFile } from "../../agent/delegation/task-input.ts";
import { agreementAskedBy, inLine, saidBy } from "../../core/foreign-words.ts";
import type { AskSpec, Clock, Durable, NewTask, Runner } from "../../ports.ts";
import type { AttendNotice } from "../../protocol/api/attend-shapes.ts";
import { TuttiError } from "../../protocol/error.ts";
import { attendedKind } from "../../protocol/invocation/runner-kinds.ts";
import { workflowInput } from "../../runner/program/workflow-input.ts";
import { WorkflowWork } from "../project/workflow-work.ts";
import { type Attendance, talkOver } from "./attendance.ts";
import type { AttendedProcess } from "./attended-process.ts";

interface AttendedRunnerOptions {
  readonly attendance: Attendance;
  readonly clock: Clock;
  readonly environment: AgentEnvironment;
}

export function attendedRunner({ attendance, clock, environment }: AttendedRunnerOptions): Runner {
  return async (durable) => {
    const { task, attempt, run, agent, signal } = durable;
    const process = await attendingProcess(durable, attendance);
    // The function begins anew with each life of this runner, so each has a name of its own.
    const call = `${task}/${attempt}.${run}/workflow.${crypto.randomUUID()}`;
    const work = new WorkflowWork(durable, {
      environment,
      runnerOf: (name) => childRunner(durable, name),
      askOf: (ask) => askOfProgram(agent, ask),
    });
    work.attach((order) => process.send(withCall(call, order)));
    try {
      return await talkOver(
        process,
        { key: call, signal },
        {
          clock,
          begin: () =>
            process.send({ kind: "workflow", call, name: agent, input: workflowInput(durable), task, attempt }),
          hear: (notice) => hear(work, notice),
        },
      );
    } catch (thrown) {
      if (!(thrown instanceof TuttiError) || thrown.details?.["reason"] !== "process_gone" || signal.aborted)
        throw thrown;
      // As after a restart: the next process begins the function again, and what was recorded is not done again.
      return durable.replay();
    }
  };
}

/** Waits that were over before a restart are found over, so the loop comes to the one that is needed now. */
async function attendingProcess(durable: Durable, attendance: Attendance): Promise<AttendedProcess> {
  const wanted = { kind: "workflow", name: durable.agent } as const;
  for (let count = 1; ; count += 1) {
    const found = attendance.processFor(durable.root, wanted);
    if (found !== undefined) return found;
    await untilAttended(durable, attendance, { key: `attended${count}`, wanted });
  }
}

function childRunner(durable: Durable, name: string): NewTask["runner"] {
  const { agents } = treeFile(durable.rootInput);
  const found = Object.hasOwn(agents, name) ? agents[name]?.runner : undefined;
  if (found?.kind === attendedKind) return { kind: attendedKind, config: {} };
  throw new TuttiError("not_found", `there is no workflow ${name}; list it in \`workflows\` of openTutti`);
}

/**
 * The code is a program's, so its words are shown as such, and its details stand apart: nothing in them is read as Tutti's own,
 * such as the calls that a yes would allow for good.
 */
function askOfProgram(agent: string, { kind, question, details, choices }: AskSpec): AskSpec {
  const more = details === undefined ? "" : `\n${JSON.stringify(details, null, 2)}`;
  return {
    kind,
    question:
      kind === "approval"
        ? agreementAskedBy(agent, `${question}${more}`)
        : saidBy(`${inLine(agent)} asks`, `${question}${more}`),
    details: { of_program: { question, ...(details === undefined ? {} : { details }) } },
    ...(choices === undefined ? {} : { choices }),
  };
}

type WorkflowOrder = Parameters<Parameters<WorkflowWork["attach"]>[0]>[0];

function withCall(call: string, order: WorkflowOrder): Parameters<AttendedProcess["send"]>[0] {
  if (order.kind !== "abort") return { call, ...order };
  return { kind: "abort", call, ...(order.op === undefined ? {} : { op: order.op }) };
}

function hear(work: WorkflowWork, notice: AttendNotice): void {
  if (notice.kind === "live" && notice.op !== undefined) {
    work.hear({ kind: "progress", op: notice.op, text: notice.text });
  } else if (notice.kind === "operation" || notice.kind === "body_done" || notice.kind === "body_failed") {
    work.hear(notice);
  }
}
