// The recorded steps of a task with their timings, as bars on one line of time.

import { type ReactNode, useMemo } from "react";

import { count, duration, money } from "../../format/show-time.ts";
import type { Transcript } from "../../live/fold-transcript.ts";
import { useOlder } from "../../api/task-queries.ts";
import { Empty } from "../../ui/controls.tsx";
import { GrowingList } from "../../ui/growing-list.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { stepTitle } from "./step-title.ts";
import { type TimedStep, timedSteps } from "./timed-steps.ts";

export function StepsView({ transcript }: { readonly transcript: Transcript }): ReactNode {
  const older = useOlder(transcript);
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- events are added in place, and the version says so
  const steps = useMemo(() => timedSteps(transcript.events), [transcript.version]);
  if (steps.length === 0) return <Empty title="No step was recorded yet" />;
  const from = steps[0]?.from ?? 0;
  const span = Math.max(1, (steps.at(-1)?.to ?? 1) - from);
  return (
    <GrowingList
      label="Steps"
      className="card list"
      rows={{
        count: steps.length,
        height: 34,
        keyOf: (index) => String(steps[index]?.seq ?? index),
        draw: (index) => {
          const step = steps[index];
          if (step === undefined) return null;
          const [left, width] = [step.from - from, step.to - step.from].map((ms) => (ms * 100) / span);
          return <StepRow step={step} left={left ?? 0} width={width ?? 0} />;
        },
      }}
      older={older}
    />
  );
}

function StepRow({
  step,
  left,
  width,
}: {
  readonly step: TimedStep;
  readonly left: number;
  readonly width: number;
}): ReactNode {
  return (
    <div className="step">
      <StateMark state={step.outcome} bare />
      <span className="clip step-key small" title={step.key}>
        <Words text={stepTitle(step.key)} />
      </span>
      <span className="step-track" aria-hidden="true">
        <i style={{ left: `${left}%`, width: `${Math.max(0.4, width)}%` }} />
      </span>
      <span className="tiny soft num step-time">{duration(step.to - step.from)}</span>
      <span className="tiny faint num step-use">
        {step.tokens === 0 ? "" : `${count(step.tokens)} tokens`}
        {step.money === 0 ? "" : ` · ${money(step.money)}`}
      </span>
    </div>
  );
}
