// Text that a session is writing at this moment. It is not kept: the message that follows replaces it.

import { useEffect, useState } from "react";

import type { LiveDelta, TaskId } from "../../../../src/client/index.ts";
import type { LiveFeed } from "../../live/live-feed.ts";

export interface LiveText {
  readonly id: string;
  readonly channel: LiveDelta["channel"];
  readonly text: string;
}

/** Longer text is shown from its end. */
const mostKept = 16_000;
const drawMs = 100;

/** `recorded` changes with every event of the task: what was being written has been recorded then. */
export function useLiveTexts(feed: LiveFeed, task: TaskId, recorded: number): readonly LiveText[] {
  const [texts, setTexts] = useState<readonly LiveText[]>([]);
  useEffect(() => {
    const known = new Map<string, LiveText>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setTexts([]);
    const end = feed.watchDeltas((delta) => {
      if (delta.task !== task || delta.channel === "tool") return;
      const id = `${delta.key} ${delta.channel}`;
      const before = delta.offset === 0 || delta.channel === "notice" ? "" : (known.get(id)?.text ?? "");
      known.set(id, { id, channel: delta.channel, text: (before + delta.text).slice(-mostKept) });
      timer ??= setTimeout(() => {
        timer = undefined;
        setTexts([...known.values()]);
      }, drawMs);
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [feed, task, recorded]);
  return texts;
}
