// The run of an agent by a daemon elsewhere, which finds the agent, its model and its folder on its own machine.
import type { PreparedRun, RunRequest } from "../../host/project.ts";
import { TuttiError } from "../../protocol/error.ts";
import { named, single } from "../../protocol/invocation/invocation-builders.ts";
import { forcedTo, runnerName, withWorkspace } from "../../protocol/invocation/runner-ref.ts";
import { readWrittenJson } from "../../protocol/json/written-json.ts";
import { remoteFolder } from "./remote-folder.ts";

/** `folder` is on the machine of the daemon. */
export function remoteRun(request: Omit<RunRequest, "folder">, folder: string | undefined): PreparedRun {
  const { agent, prompt, model, effort, script, workspace } = request;
  const runner =
    workspace === undefined
      ? request.runner
      : withWorkspace(request.runner ?? { kind: "local", config: {} }, workspace);
  if (prompt.trim() === "") throw new TuttiError("usage", "the prompt is blank; say what the agent is to do");
  const there = remoteFolder(folder);
  const file = {
    invocation: single(named(agent, prompt), forcedTo(runner)),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(script === undefined ? {} : { script: readScript(script) }),
    ...(there === undefined ? {} : { roots: [there] }),
  };
  const isLocal = runner === undefined || runner.kind === "local";
  const rehearsal = script !== undefined && model === undefined && isLocal;
  return {
    text: JSON.stringify(file),
    model: isLocal ? (model ?? (rehearsal ? "rehearsal/script" : "the model of the daemon")) : runnerName(runner),
    rehearsal,
  };
}

/** The daemon checks what is in it. */
function readScript(text: string): unknown {
  const read = readWrittenJson(text);
  if (read.ok) return read.value;
  throw new TuttiError("invalid_input", `the rehearsal script ${read.problem}`);
}
