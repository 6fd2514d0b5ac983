// The transcript of a task: only the entries in view are drawn, and the newest stay in view while the reader is at the end.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

import type { Transcript } from "../../live/fold-transcript.ts";
import { useConnection } from "../../api/connection.tsx";
import { Empty } from "../../ui/controls.tsx";
import { Prose } from "../../ui/outside-text.tsx";
import { EntryView } from "./entry-view.tsx";
import { useLiveTexts } from "./live-texts.ts";

/** The entry that an address names with `#e` and the number of its event. */
function linkedSeq(): number | undefined {
  const found = /^#e(\d{1,15})$/.exec(location.hash);
  return found === null ? undefined : Number(found[1]);
}

export function TranscriptView({
  transcript,
  open,
}: {
  readonly transcript: Transcript;
  readonly open: boolean;
}): ReactNode {
  const { entries, task } = transcript;
  const { feed } = useConnection();
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(linkedSeq() === undefined);
  const [linked] = useState(linkedSeq);
  const live = useLiveTexts(feed, task, transcript.events.length);
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 64,
    overscan: 8,
    getItemKey: (index) => (entries[index]?.seq === undefined ? index : `${entries[index].seq}.${index}`),
  });
  const total = rows.getTotalSize();
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [total, live]);
  useEffect(() => {
    if (linked === undefined) return;
    const place = entries.findIndex(({ seq }) => seq >= linked);
    if (place >= 0) rows.scrollToIndex(place, { align: "center" });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only when the page is opened
  }, []);
  if (entries.length === 0 && live.length === 0) {
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
    <div
      className="card transcript"
      ref={scroller}
      role="log"
      aria-label="Transcript"
      aria-live="off"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < 48;
      }}
    >
      <div className="list-inner" style={{ height: total }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          return (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className={`list-row ${entry.seq === linked ? "linked" : ""}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <EntryView entry={entry} />
            </div>
          );
        })}
      </div>
      {live.map(({ id, channel, text }) => (
        <div key={id} className={`entry live live-${channel}`}>
          <div className="entry-head">
            <span className="label">
              {channel === "reasoning" ? "Thinking" : channel === "output" ? "Output" : "Writing"}
            </span>
          </div>
          <Prose text={text.slice(-8_000)} className={channel === "text" ? "" : "soft mono small"} />
        </div>
      ))}
    </div>
  );
}
