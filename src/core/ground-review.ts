// Takes of a review what is more than a nod: points with a reason and a place in the change that was reviewed.

import type { Review } from "../protocol/routing/review.ts";
import type { ReviewedPoint } from "../protocol/task/evidence.ts";
import type { ControlStatement } from "./control-statements.ts";

export interface AskedPoint {
  readonly id: string;
  readonly text: string;
  /** Whether an approval of the task has to speak of it. Others are judged as far as this task bears on them. */
  readonly required: boolean;
}

export interface ReviewGround {
  readonly asked: readonly AskedPoint[];
  /** Paths of the change; undefined when Tutti could not list them. */
  readonly changed: readonly string[] | undefined;
  readonly control: readonly ControlStatement[];
}

export interface GroundedReview {
  readonly points: ReviewedPoint[];
  readonly grounded: boolean;
  /** It calls a statement true that was made up, so nothing that it says of the work counts. */
  readonly fooled: boolean;
}

const longestWhy = 1_000;

export function groundReview(
  given: Review["review"]["points"],
  { asked, changed, control }: ReviewGround,
): GroundedReview {
  const madeUp = new Set(control.flatMap(({ id, holds }) => (holds ? [] : [id])));
  if (given?.some(({ id, met }) => met && madeUp.has(id)) === true)
    return { points: [], grounded: false, fooled: true };
  const known = new Set(asked.map(({ id }) => id));
  const points = (given ?? []).flatMap(({ id, met, why, where }): ReviewedPoint[] => {
    const place = placeIn(where, changed);
    if (!known.has(id) || why.trim() === "" || (met && place === undefined)) return [];
    return [{ id, met, why: why.trim().slice(0, longestWhy), where: place ?? "" }];
  });
  // Of two answers about a point the worse one counts.
  const denied = new Set(points.flatMap(({ id, met }) => (met ? [] : [id])));
  const kept = points.filter(({ id, met }) => !met || !denied.has(id));
  const held = new Set(kept.flatMap(({ id, met }) => (met ? [id] : [])));
  const required = asked.filter((point) => point.required);
  return { points: kept, grounded: required.length > 0 && required.every(({ id }) => held.has(id)), fooled: false };
}

/** The path of the change that is meant, without a line behind it. */
function placeIn(where: string, changed: readonly string[] | undefined): string | undefined {
  const path = where
    .trim()
    .replace(/(?::\d+(?:[-:]\d+)?)$/, "")
    .replace(/^(?:\.\/)+/, "");
  if (path === "") return undefined;
  return changed === undefined || changed.includes(path) ? path : undefined;
}
