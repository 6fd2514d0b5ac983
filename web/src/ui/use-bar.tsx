// How much of a limit is used and how much is held for what is under way, with the name and the numbers.

import type { ReactNode } from "react";

import { Meter } from "./controls.tsx";

export function UseBar({
  label,
  value,
  of,
  held = 0,
  show,
}: {
  readonly label: string;
  readonly value: number;
  readonly of: number;
  readonly held?: number | undefined;
  readonly show: (value: number) => string;
}): ReactNode {
  const reserved = held > 0 ? `, ${show(held)} held` : "";
  return (
    <div className="col tightest">
      <div className="row spread small">
        <span className="soft clip">{label}</span>
        <span className="num use-numbers">
          {show(value)}
          {held > 0 ? (
            <span
              className="faint"
              title="Held for calls under way and for tasks below; what they do not use is free again."
            >
              {" "}
              + {show(held)}
            </span>
          ) : null}{" "}
          <span className="faint">of {show(of)}</span>
        </span>
      </div>
      <Meter value={value} of={of} held={held} label={`${label}: ${show(value)} of ${show(of)}${reserved}`} />
    </div>
  );
}
