// Decides how the event stream goes on after it was away: from the last event, or with everything read anew.

/** A page that was away for longer reads its lists again, since that is less than telling every event. */
const mostMissed = 20_000;

export type ResumePlan =
  | { readonly kind: "follow"; readonly after: number }
  /** What the page keeps no longer fits the service: everything is read again, and events are followed from here. */
  | { readonly kind: "reload"; readonly after: number; readonly why: "too_far_behind" | "other_state" };

/** `last`: the last event that the page has, undefined before the first connection. `newest`: the last one of the service. */
export function resumePlan(last: number | undefined, newest: number): ResumePlan {
  if (last === undefined) return { kind: "follow", after: newest };
  // Numbers are never reused, so a service that has fewer of them works on another state folder.
  if (newest < last) return { kind: "reload", after: newest, why: "other_state" };
  if (newest - last > mostMissed) return { kind: "reload", after: newest, why: "too_far_behind" };
  return { kind: "follow", after: last };
}

/** How long to wait before the next try: quickly at first, then every five seconds. */
export function retryDelayMs(failures: number): number {
  return Math.min(5_000, 250 * 2 ** Math.min(failures, 10));
}
