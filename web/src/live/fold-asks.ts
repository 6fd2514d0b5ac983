// What waits for a person, as a page keeps it: the list of the service, changed by the events of asks.

import type { ListedAsk, TaskEvent } from "../../../src/client/index.ts";

/** The oldest first. Telling an event twice changes nothing. */
export function foldAsks(before: readonly ListedAsk[], events: readonly TaskEvent[]): readonly ListedAsk[] {
  let asks = before;
  for (const event of events) {
    switch (event.type) {
      case "ask.raised": {
        const { id, task, root, kind, question, raised_at, deadline, status } = event.data.ask;
        if (status !== "open" || asks.some((each) => each.id === id)) break;
        const text = question.slice(0, 1_000);
        asks = [...asks, { id, task, root, kind, question: text, bytes: question.length, raised_at, deadline }];
        break;
      }
      case "ask.answered":
      case "ask.expired":
      case "ask.withdrawn":
        if (asks.some(({ id }) => id === event.data.ask)) asks = asks.filter(({ id }) => id !== event.data.ask);
        break;
      case "task.completed":
      case "task.failed":
      case "task.canceled":
        if (asks.some(({ task }) => task === event.task)) asks = asks.filter(({ task }) => task !== event.task);
        break;
      default:
        break;
    }
  }
  return asks;
}

/** An answer that turned out not to fit opens its question again, which only the service still knows whole. */
export function reopens(events: readonly TaskEvent[]): boolean {
  return events.some(({ type }) => type === "ask.reopened");
}
