// The mark of a state: each state has its own shape, colour and word, so that none of them is needed to tell states apart.

import type { ReactNode } from "react";

const ring = { cx: 8, cy: 8, r: 6, fill: "none", stroke: "currentColor", strokeWidth: 1.7 } as const;

const drawings = {
  waiting: <circle {...ring} strokeDasharray="2.4 2.4" />,
  busy: (
    <g className="turn">
      <circle {...ring} strokeOpacity="0.3" />
      <path d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="currentColor" strokeWidth="1.9" strokeLinecap="round" />
    </g>
  ),
  needs: (
    <>
      <path d="M8 1.6 14.4 8 8 14.4 1.6 8z" fill="currentColor" />
      <path d="M8 5v3.4M8 10.8v.01" stroke="var(--surface)" strokeWidth="1.7" strokeLinecap="round" />
    </>
  ),
  done: (
    <>
      <circle cx="8" cy="8" r="6.8" fill="currentColor" />
      <path d="m5 8.2 2.2 2.2L11.2 6" fill="none" stroke="var(--surface)" strokeWidth="1.8" strokeLinecap="round" />
    </>
  ),
  failed: (
    <>
      <rect x="1.6" y="1.6" width="12.8" height="12.8" rx="3.4" fill="currentColor" />
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" stroke="var(--surface)" strokeWidth="1.8" strokeLinecap="round" />
    </>
  ),
  ended: (
    <>
      <circle {...ring} />
      <path d="m4 12 8-8" stroke="currentColor" strokeWidth="1.7" />
    </>
  ),
} satisfies Record<string, ReactNode>;

type Drawing = keyof typeof drawings;

interface Look {
  readonly drawing: Drawing;
  readonly tone: "" | "good" | "bad" | "warn" | "busy";
  readonly word: string;
}

const looks: Readonly<Record<string, Look>> = {
  // Tasks
  pending: { drawing: "waiting", tone: "", word: "Pending" },
  running: { drawing: "busy", tone: "busy", word: "Running" },
  input_required: { drawing: "needs", tone: "warn", word: "Needs you" },
  completed: { drawing: "done", tone: "good", word: "Completed" },
  failed: { drawing: "failed", tone: "bad", word: "Failed" },
  canceled: { drawing: "ended", tone: "", word: "Canceled" },
  parked: { drawing: "waiting", tone: "warn", word: "Cannot go on" },
  // Goals
  in_progress: { drawing: "busy", tone: "busy", word: "In progress" },
  blocked: { drawing: "needs", tone: "warn", word: "Needs you" },
  done: { drawing: "done", tone: "good", word: "Done" },
  abandoned: { drawing: "ended", tone: "", word: "Abandoned" },
  // Links of goals
  planned: { drawing: "waiting", tone: "", word: "Planned" },
  launched: { drawing: "busy", tone: "busy", word: "Launched" },
  verified: { drawing: "done", tone: "good", word: "Verified" },
  superseded: { drawing: "ended", tone: "", word: "Replaced" },
  // Criteria and evidence
  open: { drawing: "waiting", tone: "", word: "Not proven yet" },
  met: { drawing: "done", tone: "good", word: "Met" },
  unmet: { drawing: "failed", tone: "bad", word: "Not met" },
  supports: { drawing: "done", tone: "good", word: "Supports" },
  contradicts: { drawing: "failed", tone: "bad", word: "Contradicts" },
  nothing: { drawing: "ended", tone: "", word: "Seen" },
  // Reviews
  approve: { drawing: "done", tone: "good", word: "Approve" },
  revise: { drawing: "needs", tone: "warn", word: "Revise" },
  escalate: { drawing: "needs", tone: "warn", word: "Escalate" },
  // Sessions
  queued: { drawing: "waiting", tone: "", word: "Queued" },
  working: { drawing: "busy", tone: "busy", word: "Working" },
  waiting: { drawing: "needs", tone: "warn", word: "Needs you" },
  stopped: { drawing: "ended", tone: "warn", word: "Stopped" },
  stalled: { drawing: "failed", tone: "bad", word: "Silent" },
  delegating: { drawing: "waiting", tone: "busy", word: "Waits for its tasks" },
  looping: { drawing: "failed", tone: "bad", word: "Going in circles" },
  /** A conversation with the manager goes on until somebody ends it, so it is under way without being at work. */
  conversing: { drawing: "waiting", tone: "busy", word: "Open" },
  idle: { drawing: "waiting", tone: "", word: "Idle" },
  ended: { drawing: "ended", tone: "", word: "Ended" },
  // Nodes
  alive: { drawing: "done", tone: "good", word: "Alive" },
  lost: { drawing: "failed", tone: "bad", word: "Lost" },
  ok: { drawing: "done", tone: "good", word: "Ok" },
  unknown: { drawing: "needs", tone: "warn", word: "Unknown" },
};

function stateWord(state: string): string {
  return looks[state]?.word ?? state.replaceAll("_", " ");
}

export function StateMark({ state, bare = false }: { readonly state: string; readonly bare?: boolean }): ReactNode {
  const look = looks[state] ?? { drawing: "ended", tone: "", word: stateWord(state) };
  return (
    <span className={`state ${look.tone}`} {...(bare ? { title: look.word } : {})}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {drawings[look.drawing]}
      </svg>
      {bare ? <span className="visually-hidden">{look.word}</span> : look.word}
    </span>
  );
}
