// One question that waits for a person, with what is needed to answer it in place.

import { Link } from "@tanstack/react-router";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";

import type { ListedAsk, OpenAsk } from "../../../src/client/index.ts";
import { useConnection } from "../api/connection.tsx";
import { askFacts } from "../api/ask-details.ts";
import { useAsk, useBoard, useTree } from "../api/queries.ts";
import { attempt, tell } from "../api/toasts.tsx";
import { splitQuestion } from "../text/split-question.ts";
import { Facts, TimeAgo } from "./controls.tsx";
import { OutputBlock, Prose, Words } from "./outside-text.tsx";
import { PatchLines } from "./patch-view.tsx";
import { PlanCard } from "./plan-card.tsx";

const titles = { question: "Question", approval: "Approval", budget: "Budget" } as const;

export interface AskCardProps {
  readonly ask: ListedAsk;
  readonly selected?: boolean;
  /** Where the keys of the inbox find what to press. */
  readonly onSelect?: () => void;
  /** False on pages that name the goal already. */
  readonly showsGoal?: boolean;
}

export function AskCard({ ask, selected = false, onSelect, showsGoal = true }: AskCardProps): ReactNode {
  const whole = useAsk(ask.id).data;
  const tree = useTree(ask.task).data;
  const agent = tree?.tasks.get(ask.task)?.agent;
  const goal = useBoard().data?.goals.find(({ task }) => task === ask.root);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (selected) element.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const facts = askFacts(whole?.details);
  const question = whole?.question ?? ask.question;
  return (
    <article
      ref={element}
      className={`ask ${selected ? "selected" : ""}`}
      aria-label={`${titles[ask.kind]}${agent === undefined ? "" : ` of ${agent}`}`}
      data-ask={ask.id}
      onClick={onSelect}
    >
      <div className="row folding tiny faint">
        <span className={`tag kind-${ask.kind}`}>{titles[ask.kind]}</span>
        {agent === undefined ? null : (
          <span>
            from <strong className="soft">{agent}</strong>
          </span>
        )}
        <Link to="/tasks/$task" params={{ task: ask.task }} className="mono">
          {ask.task}
        </Link>
        {showsGoal && goal !== undefined ? (
          <span className="clip ask-goal">
            for{" "}
            <Link to="/goals/$goal" params={{ goal: goal.goal }}>
              <Words text={goal.text} />
            </Link>
          </span>
        ) : null}
        <span className="grow" />
        <span>
          asked <TimeAgo at={ask.raised_at} />, an answer is due <TimeAgo at={ask.deadline} />
        </span>
      </div>
      {facts.plan === undefined ? <Question text={question} /> : <PlanCard plan={facts.plan} text={question} />}
      {facts.notes.length === 0 ? null : (
        <div className="row folding tiny">
          {facts.notes.map((note) => (
            <span key={note} className="tag">
              <Words text={note} />
            </span>
          ))}
        </div>
      )}
      {whole === undefined ? null : <AnswerRow ask={whole} always={facts.always} />}
    </article>
  );
}

function Question({ text }: { readonly text: string }): ReactNode {
  return splitQuestion(text).map((part, index) =>
    part.kind === "words" ? (
      <Prose key={index} text={part.text} className="ask-words" />
    ) : part.kind === "facts" ? (
      <Facts key={index} rows={part.rows.map(([name, said]) => [name, <Prose key={name} text={said} />] as const)} />
    ) : part.kind === "patch" ? (
      <PatchLines key={index} patch={part.text} path="" />
    ) : (
      <OutputBlock key={index} text={part.text} label="What it is about" />
    ),
  );
}

function AnswerRow({ ask, always }: { readonly ask: OpenAsk; readonly always: string | undefined }): ReactNode {
  const { tutti } = useConnection();
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);

  async function send(answer: unknown, done: string): Promise<void> {
    setBusy(true);
    const outcome = await attempt(() => tutti.answer(ask.id, answer, { kind: "person", name: "dashboard" }));
    if (outcome !== undefined) tell(outcome.accepted ? done : outcome.message, !outcome.accepted);
    setBusy(false);
  }
  async function allowAlways(): Promise<void> {
    const made = await attempt(() => tutti.addApproval({ ask: ask.id }, { kind: "person", name: "dashboard" }));
    if (made !== undefined) await send({ kind: "approval", approved: true }, "Approved, also from now on.");
  }

  if (ask.kind === "approval") {
    const reason = text.trim() === "" ? {} : { reason: text.trim() };
    return (
      <div className="col">
        <div className="row folding">
          <button
            type="button"
            className="button primary"
            data-key="y"
            disabled={busy}
            onClick={() => void send({ kind: "approval", approved: true }, "Approved.")}
          >
            Approve <kbd>y</kbd>
          </button>
          <button
            type="button"
            className="button"
            data-key="n"
            disabled={busy}
            onClick={() => void send({ kind: "approval", approved: false, ...reason }, "Denied.")}
          >
            Deny <kbd>n</kbd>
          </button>
          {always === undefined ? null : (
            <button
              type="button"
              className="button plain"
              disabled={busy}
              title={always}
              onClick={() => void allowAlways()}
            >
              Always allow this
            </button>
          )}
        </div>
        <ReasonField
          label="Why not, or what to do instead (sent with Deny)"
          field={field}
          text={text}
          onText={setText}
        />
      </div>
    );
  }
  if (ask.kind === "budget") {
    return (
      <div className="row folding">
        <button
          type="button"
          className="button primary"
          data-key="y"
          disabled={busy}
          onClick={() => void send({ kind: "budget", go_on: true }, "It goes on.")}
        >
          Go on, double the limit <kbd>y</kbd>
        </button>
        <button
          type="button"
          className="button"
          data-key="n"
          disabled={busy}
          onClick={() => void send({ kind: "budget", go_on: false }, "Stopped.")}
        >
          Stop <kbd>n</kbd>
        </button>
      </div>
    );
  }
  if (ask.choices !== undefined) {
    return (
      <div className="row folding">
        {ask.choices.map((choice, index) => (
          <button
            key={choice}
            type="button"
            className="button"
            data-key={index < 9 ? String(index + 1) : undefined}
            disabled={busy}
            onClick={() => void send({ kind: "question", value: choice }, "Answered.")}
          >
            <Words text={choice} /> {index < 9 ? <kbd>{index + 1}</kbd> : null}
          </button>
        ))}
      </div>
    );
  }
  const submit = (): void => {
    const value = ask.answer_schema === null ? text : parsedJson(text);
    if (value === undefined) tell("This question wants JSON as its answer.", true);
    else void send({ kind: "question", value }, "Answered.");
  };
  return (
    <form
      className="col"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <ReasonField
        label={ask.answer_schema === null ? "Your answer" : "Your answer, as JSON"}
        field={field}
        text={text}
        onText={setText}
        onSend={submit}
      />
      <div className="row">
        <button type="submit" className="button primary" disabled={busy || text.trim() === ""}>
          Answer
        </button>
      </div>
    </form>
  );
}

function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

function ReasonField({
  label,
  field,
  text,
  onText,
  onSend,
}: {
  readonly label: string;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onSend?: () => void;
}): ReactNode {
  return (
    <textarea
      ref={field}
      className="input slim"
      rows={1}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => onText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSend?.();
        if (event.key === "Escape") event.currentTarget.blur();
      }}
    />
  );
}
