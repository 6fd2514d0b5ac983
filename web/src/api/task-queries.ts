// What the page of a task reads: its transcript from the end back, what was decided about it, and what it may still use.

import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import type { TaskBudget, TaskEvent, TaskId } from "../../../src/client/index.ts";
import { addOlder, emptyTranscript, foldTranscript, type Transcript } from "../live/fold-transcript.ts";
import type { OlderRows } from "../ui/growing-list.tsx";
import { useConnection } from "./connection.tsx";

const firstPage = 200;
const olderPage = 500;
const retryMs = 2_000;

/** The end of what happened in the task; `useOlder` reads on towards the beginning. */
export function useTranscript(task: TaskId) {
  const { live, tutti } = useConnection();
  return useQuery(
    live.options<Transcript>({
      key: ["transcript", task],
      read: async () => {
        const { events, next } = await tutti.history(task, { limit: firstPage });
        return { ...foldTranscript(emptyTranscript(task), events), hasOlder: next !== null };
      },
      fold: foldTranscript,
    }),
  );
}

/** Puts the page before the first event that was read into the transcript, one page at a time. */
export function useOlder({ task, hasOlder }: Transcript): OlderRows {
  const { live, tutti, queries } = useConnection();
  const [isLoading, setLoading] = useState(false);
  const busy = useRef(false);
  const load = async (): Promise<void> => {
    const before = queries.getQueryData<Transcript>(["transcript", task])?.events[0]?.seq;
    if (busy.current || before === undefined) return;
    busy.current = true;
    setLoading(true);
    try {
      const { events, next } = await tutti.history(task, { before, limit: olderPage });
      // The transcript may have been read anew meanwhile; then this page is not the one before it.
      live.change<Transcript>(["transcript", task], (now) =>
        now.events[0]?.seq === before ? addOlder(now, events, next !== null) : now,
      );
    } catch {
      // The page says when the service is away. It is tried again, but not at once.
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
    busy.current = false;
    setLoading(false);
  };
  return { has: hasOlder, isLoading, load: () => void load() };
}

const decisive: ReadonlySet<TaskEvent["type"]> = new Set([
  "task.created",
  "goal.created",
  "route.decided",
  "handoff.moved",
  "evidence.added",
  "attempt.ended",
  "task.completed",
] as const);
const mostDecisions = 5;

/** What was asked and decided about the task, and what proves its result: few events, wherever in a long transcript they are. */
export function useDecisions(task: TaskId) {
  const { live, tutti } = useConnection();
  return useQuery(
    live.options<readonly TaskEvent[]>({
      key: ["decisions", task],
      read: async () => {
        const types = [...decisive].join(",");
        let page = await tutti.history(task, { types, limit: 1_000 });
        let { events } = page;
        for (let pages = 1; page.next !== null && pages < mostDecisions; pages += 1) {
          page = await tutti.history(task, { types, limit: 1_000, before: page.next });
          events = [...page.events, ...events];
        }
        return events;
      },
      fold: (known, events) => {
        const last = known.at(-1)?.seq ?? 0;
        const more = events.filter((event) => event.task === task && event.seq > last && decisive.has(event.type));
        return more.length === 0 ? known : [...known, ...more];
      },
    }),
  );
}

/** What is held changes without an event, so it is read now and then while the task is open; a raise and its end are seen at once. */
export function useBudget(task: TaskId | undefined, isOpen: boolean) {
  const { live, tutti, queries } = useConnection();
  return useQuery({
    enabled: task !== undefined,
    ...live.options<TaskBudget>({
      key: ["budget", task],
      read: () => tutti.budget(task ?? ""),
      fold: (budget, events) => {
        const changes = ({ type, root, task: of }: TaskEvent): boolean =>
          root === budget.root && (type === "budget.raised" || (of === task && type.startsWith("task.")));
        if (events.some(changes)) void queries.invalidateQueries({ queryKey: ["budget", task] });
        return budget;
      },
    }),
    refetchInterval: isOpen ? 5_000 : false,
  });
}
