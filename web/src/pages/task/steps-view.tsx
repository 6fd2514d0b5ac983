// The recorded steps of a task with their timings, as bars on one line of time.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef } from "react";

import { count, duration, money } from "../../format/show-time.ts";
import type { Transcript } from "../../live/fold-transcript.ts";
import { Empty } from "../../ui/controls.tsx";
import { StateMark } from "../../ui/state-mark.tsx";
import { type TimedStep, timedSteps } from "./timed-steps.ts";

export function StepsView({ transcript }: { readonly transcript: Transcript }): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- events are added in place, and the version says so
  const steps = useMemo(() => timedSteps(transcript.events), [transcript.version]);
  const rows = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 34,
    overscan: 20,
  });
  if (steps.length === 0) return <Empty title="No step was recorded yet" />;
  const from = steps[0]?.from ?? 0;
  const span = Math.max(1, (steps.at(-1)?.to ?? 1) - from);
  return (
    <div className="card list" ref={scroller} tabIndex={0} role="region" aria-label="Steps">
      <div className="list-inner" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const step = steps[index];
          return step === undefined ? null : (
            <div key={index} className="list-row step" style={{ transform: `translateY(${start}px)` }}>
              <StepRow
                step={step}
                left={((step.from - from) * 100) / span}
                width={((step.to - step.from) * 100) / span}
              />
            </div>
          );
        })}
      </div>
    </div>
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
    <>
      <StateMark state={step.outcome} bare />
      <code className="clip step-key">{step.key}</code>
      <span className="step-track" aria-hidden="true">
        <i style={{ left: `${left}%`, width: `${Math.max(0.4, width)}%` }} />
      </span>
      <span className="tiny soft num step-time">{duration(step.to - step.from)}</span>
      <span className="tiny faint num step-use">
        {step.tokens === 0 ? "" : `${count(step.tokens)} tokens`}
        {step.money === 0 ? "" : ` · ${money(step.money)}`}
      </span>
    </>
  );
}
