// A long list of which only the rows in view are drawn. It begins at its end, stays there while rows are added, and keeps the reader's place when older rows are put before.

import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useReducer, useRef } from "react";

export interface GrowingRows {
  readonly count: number;
  /** Stays the same when rows are put before it. */
  readonly keyOf: (index: number) => string;
  readonly draw: (index: number) => ReactNode;
  /** About how high a row is that was not drawn yet. */
  readonly height: number;
}

export interface OlderRows {
  readonly has: boolean;
  readonly isLoading: boolean;
  readonly load: () => void;
}

/** Older rows are fetched before the reader gets to the first one. */
const nearTop = 1_200;
const nearEnd = 48;

export function GrowingList({
  label,
  className,
  isLog = false,
  rows,
  older,
  linked,
  after,
}: {
  readonly label: string;
  readonly className: string;
  readonly isLog?: boolean;
  readonly rows: GrowingRows;
  readonly older: OlderRows;
  /** The row that the address names: it is shown instead of the end. `index` is undefined until it is there. */
  readonly linked?: { readonly index: number | undefined } | undefined;
  /** Below the last row. */
  readonly after?: ReactNode;
}): ReactNode {
  const { count, keyOf, draw, height } = rows;
  const scroller = useRef<HTMLDivElement>(null);
  const atEnd = useRef(linked === undefined);
  const top = useRef<{ readonly key: string; readonly start: number }>(undefined);
  const [, drawAgain] = useReducer((times: number) => times + 1, 0);
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    getItemKey: keyOf,
  });
  const total = list.getTotalSize();

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    if (atEnd.current) element.scrollTop = element.scrollHeight;
  }, [total, after, count]);

  const firstKey = count === 0 ? "" : keyOf(0);
  useLayoutEffect(() => {
    const [element, before] = [scroller.current, top.current];
    if (element === null || before === undefined || atEnd.current) return;
    for (let index = 0; index < count; index += 1) {
      if (keyOf(index) !== before.key) continue;
      const moved = (list.measurementsCache[index]?.start ?? before.start) - before.start;
      if (moved === 0) return;
      // Set here as well, so that the right rows are drawn before anything is painted.
      list.scrollOffset = element.scrollTop + moved;
      element.scrollTop += moved;
      drawAgain();
      return;
    }
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only when rows were put before the first
  }, [firstKey]);

  const linkedIndex = linked?.index;
  useEffect(() => {
    if (linkedIndex !== undefined) list.scrollToIndex(linkedIndex, { align: "center" });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once, when the row is there
  }, [linkedIndex !== undefined]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const first = list.getVirtualItems().find(({ end }) => end > element.scrollTop);
    top.current = first === undefined ? undefined : { key: String(first.key), start: first.start };
    if (older.has && !older.isLoading && element.scrollTop < nearTop) older.load();
  });

  return (
    <div
      className={className}
      ref={scroller}
      role={isLog ? "log" : "region"}
      aria-label={label}
      {...(isLog ? { "aria-live": "off" } : {})}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd;
      }}
    >
      {older.isLoading ? (
        <div className="list-older" role="status">
          <span>Reading what came before…</span>
        </div>
      ) : null}
      <div className="list-inner" style={{ height: total }}>
        {list.getVirtualItems().map(({ index, start, key }) => (
          <div
            key={key}
            ref={list.measureElement}
            data-index={index}
            className={`list-row ${index === linkedIndex ? "linked" : ""}`}
            style={{ transform: `translateY(${start}px)` }}
          >
            {draw(index)}
          </div>
        ))}
      </div>
      {after}
    </div>
  );
}
