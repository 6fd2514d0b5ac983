// The recorded events of a task as they are, one line each, opened on demand.

import { memo, type ReactNode, useState } from "react";

import type { TaskEvent } from "../../../../src/client/index.ts";
import type { Transcript } from "../../live/fold-transcript.ts";
import { useOlder } from "../../api/task-queries.ts";
import { Empty, TimeAgo } from "../../ui/controls.tsx";
import { GrowingList } from "../../ui/growing-list.tsx";
import { OutputBlock, Words } from "../../ui/outside-text.tsx";

export function RawEvents({ transcript }: { readonly transcript: Transcript }): ReactNode {
  const { events } = transcript;
  const older = useOlder(transcript);
  if (events.length === 0) return <Empty title="No event was recorded yet" />;
  return (
    <GrowingList
      label="Raw events"
      className="card list"
      rows={{
        count: events.length,
        height: 33,
        keyOf: (index) => String(events[index]?.seq ?? index),
        draw: (index) => {
          const event = events[index];
          return event === undefined ? null : <RawEvent event={event} />;
        },
      }}
      older={older}
    />
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
