// The recorded events of a task as they are, one line each, opened on demand.

import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useRef, useState } from "react";

import type { TaskEvent } from "../../../../src/client/index.ts";
import type { Transcript } from "../../live/fold-transcript.ts";
import { Empty, TimeAgo } from "../../ui/controls.tsx";
import { OutputBlock, Words } from "../../ui/outside-text.tsx";

export function RawEvents({ transcript }: { readonly transcript: Transcript }): ReactNode {
  const { events } = transcript;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: events.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 33,
    overscan: 20,
    getItemKey: (index) => events[index]?.seq ?? index,
  });
  if (events.length === 0) return <Empty title="No event was recorded yet" />;
  return (
    <div className="card list" ref={scroller} tabIndex={0} role="region" aria-label="Raw events">
      <div className="list-inner" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start, key }) => {
          const event = events[index];
          return event === undefined ? null : (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              className="list-row"
              style={{ transform: `translateY(${start}px)` }}
            >
              <RawEvent event={event} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

const RawEvent = memo(function RawEvent({ event }: { readonly event: TaskEvent }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <div className="raw">
      <button type="button" className="tool-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="tiny faint num raw-seq">{event.seq}</span>
        <code className="raw-type">{event.type}</code>
        <span className="clip small soft grow">
          <Words text={JSON.stringify(event.data).slice(0, 240)} />
        </span>
        <span className="tiny faint">
          <TimeAgo at={event.at} />
        </span>
      </button>
      {open ? <OutputBlock text={JSON.stringify(event, null, 2)} lines={80} label={`Event ${event.seq}`} /> : null}
    </div>
  );
});
