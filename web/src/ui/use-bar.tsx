// How much of a limit is used, with its name and both numbers.

import type { ReactNode } from "react";

import { Meter } from "./controls.tsx";

export function UseBar({
  label,
  value,
  of,
  show,
}: {
  readonly label: string;
  readonly value: number;
  readonly of: number;
  readonly show: (value: number) => string;
}): ReactNode {
  return (
    <div className="col tightest">
      <div className="row spread small">
        <span className="soft">{label}</span>
        <span className="num">
          {show(value)} <span className="faint">of {show(of)}</span>
        </span>
      </div>
      <Meter value={value} of={of} label={`${label}: ${show(value)} of ${show(of)}`} />
    </div>
  );
}
