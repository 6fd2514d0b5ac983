// The transcript of a task from its end back, and below it the text that the session is writing at this moment.

import { type ReactNode, useEffect, useState } from "react";

import type { Transcript } from "../../live/fold-transcript.ts";
import { useConnection } from "../../api/connection.tsx";
import { useOlder } from "../../api/task-queries.ts";
import { Empty } from "../../ui/controls.tsx";
import { GrowingList } from "../../ui/growing-list.tsx";
import { Prose, Said } from "../../ui/outside-text.tsx";
import { EntryView } from "./entry-view.tsx";
import { useLiveTexts } from "./live-texts.ts";

/** The entry that an address names with `#e` and the number of its event. */
function linkedSeq(): number | undefined {
  const found = /^#e(\d{1,15})$/.exec(location.hash);
  return found === null ? undefined : Number(found[1]);
}

function useLinkedSeq(): number | undefined {
  const [linked, setLinked] = useState(linkedSeq);
  useEffect(() => {
    const look = (): void => setLinked(linkedSeq());
    window.addEventListener("hashchange", look);
    return () => window.removeEventListener("hashchange", look);
  }, []);
  return linked;
}

export function TranscriptView({
  transcript,
  open,
}: {
  readonly transcript: Transcript;
  readonly open: boolean;
}): ReactNode {
  const { entries, events, task, hasOlder } = transcript;
  const { feed } = useConnection();
  const older = useOlder(transcript);
  const linked = useLinkedSeq();
  const live = useLiveTexts(feed, task, events.length);
  const isRead = linked === undefined || !hasOlder || (events[0]?.seq ?? 0) <= linked;
  // What the address names may be further back than what was read.
  useEffect(() => {
    if (!isRead && !older.isLoading) older.load();
  }, [isRead, older]);
  const found = linked === undefined || !isRead ? -1 : entries.findIndex(({ seq }) => seq >= linked);
  if (entries.length === 0 && live.length === 0 && !hasOlder) {
    return (
      <div className="card">
        <Empty title="Nothing was said yet">
          {open
            ? "What the session says and does appears here as it happens."
            : "This task ended before it said anything."}
        </Empty>
      </div>
    );
  }
  return (
    <GrowingList
      // Another address is another place to begin at.
      key={linked}
      label="Transcript"
      className="card transcript"
      isLog
      rows={{
        count: entries.length,
        height: 64,
        keyOf: (index) => `${entries[index]?.seq ?? 0}.${entries[index]?.part ?? 0}`,
        draw: (index) => {
          const entry = entries[index];
          return entry === undefined ? null : <EntryView entry={entry} />;
        },
      }}
      older={older}
      linked={linked === undefined ? undefined : { index: found < 0 ? undefined : found }}
      after={live.map(({ id, channel, text }) => (
        <div key={id} className={`entry live live-${channel}`}>
          <div className="entry-head">
            <span className="label">
              {channel === "reasoning" ? "Thinking" : channel === "output" ? "Output" : "Writing"}
            </span>
          </div>
          {channel === "text" ? (
            <Said text={text.slice(-8_000)} />
          ) : (
            <Prose text={text.slice(-8_000)} className="soft mono small" />
          )}
        </div>
      ))}
    />
  );
}
