// A small chart of bars over time, drawn as SVG: one bar for each stretch of time, its parts on top of each other.

import type { ReactNode } from "react";

import { exactTime } from "../format/show-time.ts";
import { niceTop } from "./nice-top.ts";

interface BarChartProps {
  readonly title: string;
  readonly parts: readonly { readonly name: string; readonly look: "good" | "bad" | "plain" | "soft" }[];
  readonly points: readonly { readonly at: number; readonly values: readonly number[] }[];
  readonly show: (value: number) => string;
}

/** The drawing is stretched to its place, so texts stand beside it. */
const size = { width: 600, height: 100 } as const;

export function BarChart({ title, parts, points, show }: BarChartProps): ReactNode {
  const sums = points.map(({ values }) => values.reduce((sum, each) => sum + each, 0));
  const top = niceTop(Math.max(0, ...sums));
  const total = sums.reduce((sum, each) => sum + each, 0);
  const step = size.width / Math.max(1, points.length);
  const scale = size.height / top;
  return (
    <figure className="col">
      <figcaption className="row spread">
        <h2>{title}</h2>
        <span className="soft num">{show(total)}</span>
      </figcaption>
      <div className="chart">
        <div className="chart-axis tiny faint num" aria-hidden="true">
          <span>{total === 0 ? "" : show(top)}</span>
          <span>0</span>
        </div>
        <svg
          viewBox={`0 0 ${size.width} ${size.height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${show(total)} in all`}
        >
          {[0, 0.5, 1].map((share) => (
            <line
              key={share}
              className="grid"
              x1="0"
              x2={size.width}
              y1={size.height * share}
              y2={size.height * share}
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {points.map(({ at, values }, index) => {
            let below = 0;
            return (
              <g key={at}>
                <title>{`${exactTime(at)}\n${parts.map(({ name }, part) => `${name}: ${show(values[part] ?? 0)}`).join("\n")}`}</title>
                <rect x={index * step} width={step} y="0" height={size.height} fill="transparent" />
                {parts.map(({ name, look }, part) => {
                  const value = values[part] ?? 0;
                  below += value;
                  return value === 0 ? null : (
                    <rect
                      key={name}
                      className={`bar-${look}`}
                      x={index * step + step * 0.1}
                      width={step * 0.8}
                      y={size.height - below * scale}
                      height={value * scale}
                    />
                  );
                })}
              </g>
            );
          })}
        </svg>
        <div className="chart-times row spread tiny faint num">
          <span>{shortTime(points[0]?.at)}</span>
          {parts.length < 2 ? null : (
            <span className="row legend">
              {parts.map(({ name, look }) => (
                <span key={name} className="row swatch">
                  <svg viewBox="0 0 8 8" aria-hidden="true">
                    <rect className={`bar-${look}`} width="8" height="8" rx="2" />
                  </svg>
                  {name}
                </span>
              ))}
            </span>
          )}
          <span>{shortTime(points.at(-1)?.at)}</span>
        </div>
      </div>
    </figure>
  );
}

function shortTime(at: number | undefined): string {
  if (at === undefined) return "";
  return new Date(at).toLocaleString(undefined, {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
  });
}
