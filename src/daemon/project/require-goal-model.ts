// Refuses a goal that no model could split.

import { isRehearsalName } from "../../core/rehearsal-name.ts";
import { TuttiError } from "../../protocol/error.ts";

/** Without a script the rehearsal could only say that it has nothing to say. The model of a config that is not trusted yet is not known. */
export function requireGoalModel(model: string | undefined): void {
  if (model === undefined || !isRehearsalName(model)) return;
  const message =
    "there is no model that could split the goal; keep the key of a provider with `tutti models login PROVIDER`, or name a model in the config (`tutti doctor` says what is missing); --script FILE plays a rehearsal instead";
  throw new TuttiError("invalid_input", message);
}
