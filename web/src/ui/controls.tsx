// Small parts that all pages share: relative times, cards, empty states, bars, tabs and dialogs.

import { type ReactNode, useEffect, useId, useRef, useSyncExternalStore } from "react";

import { exactTime, relativeTime } from "../format/show-time.ts";

/** One clock for all times on the page, so that a thousand of them cost one timer. */
let now = Date.now();
const clockListeners = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | undefined;

function watchClock(listener: () => void): () => void {
  if (clockListeners.size === 0) now = Date.now();
  clockListeners.add(listener);
  clock ??= setInterval(() => {
    now = Date.now();
    for (const each of clockListeners) each();
  }, 1_000);
  return () => {
    clockListeners.delete(listener);
    if (clockListeners.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}

export function useNow(): number {
  return useSyncExternalStore(watchClock, () => now);
}

/** The relative time; the exact one is shown when the pointer rests on it, and read out. */
export function TimeAgo({ at }: { readonly at: number }): ReactNode {
  const text = useSyncExternalStore(watchClock, () => relativeTime(at, now));
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)} className="num">
      {text}
    </time>
  );
}

interface CardProps {
  readonly title?: ReactNode;
  readonly end?: ReactNode;
  readonly children: ReactNode;
  /** The children bring their own space, such as a list of links. */
  readonly flush?: boolean;
  readonly id?: string;
}

export function Card({ title, end, children, flush = false, id }: CardProps): ReactNode {
  const heading = useId();
  return (
    <section className="card" id={id} {...(title === undefined ? {} : { "aria-labelledby": heading })}>
      {title === undefined ? null : (
        <header>
          <h2 id={heading} className="grow clip">
            {title}
          </h2>
          {end}
        </header>
      )}
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

export function Empty({
  title,
  children,
  command,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly command?: string;
}): ReactNode {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children === undefined ? null : <div className="small">{children}</div>}
      {command === undefined ? null : <code className="command">{command}</code>}
    </div>
  );
}

/** How much of a limit is used. */
export function Meter({
  value,
  of,
  held = 0,
  label,
  tone = "",
}: {
  readonly value: number;
  readonly of: number;
  /** Neither used nor free. */
  readonly held?: number;
  readonly label: string;
  readonly tone?: "" | "good" | "bad";
}): ReactNode {
  const share = of <= 0 ? 0 : Math.min(100, (value * 100) / of);
  const heldShare = of <= 0 ? 0 : Math.min(100 - share, (held * 100) / of);
  return (
    <div
      className={`bar ${tone === "" && share >= 90 ? "bad" : tone}`}
      role="progressbar"
      aria-label={label}
      aria-valuenow={Math.round(share)}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <i style={{ width: `${share}%` }} />
      {heldShare === 0 ? null : <i className="held" style={{ width: `${heldShare}%` }} />}
    </div>
  );
}

export function Tabs<T extends string>({
  tabs,
  chosen,
  onChoose,
  label,
}: {
  readonly tabs: readonly { readonly id: T; readonly title: ReactNode }[];
  readonly chosen: T;
  readonly onChoose: (tab: T) => void;
  readonly label: string;
}): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  // On a phone not all tabs fit: the chosen one is moved into sight, and the page itself stays where it is.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (!list.current || !tab) return;
    const { left, right } = list.current.getBoundingClientRect();
    const place = tab.getBoundingClientRect();
    list.current.scrollLeft += Math.min(0, place.left - left) + Math.max(0, place.right - right);
  }, [chosen]);
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list}>
      {tabs.map(({ id, title }, index) => (
        <button
          key={id}
          type="button"
          role="tab"
          className="tab"
          aria-selected={id === chosen}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
          onKeyDown={(event) => {
            const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
            const next = tabs[(index + step + tabs.length) % tabs.length];
            if (step === 0 || next === undefined) return;
            onChoose(next.id);
            const all = event.currentTarget.parentElement?.querySelectorAll<HTMLElement>('[role="tab"]');
            all?.[(index + step + tabs.length) % tabs.length]?.focus();
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/** A dialog of the browser: it keeps the focus, and Escape closes it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (element.current?.open === false) element.current.showModal();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div className="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

export function Facts({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {rows.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
