// Shows text that sessions, repositories and people wrote: always as text, with colours of a terminal and hidden characters made visible.

import { type ReactNode, useMemo, useState } from "react";

import { count } from "../format/show-time.ts";
import { cutText } from "../text/cut-text.ts";
import { readAnsi, type StyledText } from "../text/read-ansi.ts";
import { readBlocks, readInline } from "../text/read-markup.ts";
import { visiblePieces } from "../text/mark-invisible.ts";

interface OutsideTextProps {
  readonly text: string;
  /** How many lines are shown before a reader asks for more. */
  readonly lines?: number;
  readonly className?: string;
  /** What the text is, for readers who cannot see it scroll. */
  readonly label?: string;
}

/** A block in the type of a terminal. */
export function OutputBlock({ text, lines = 120, className = "", label }: OutsideTextProps): ReactNode {
  const [wanted, setWanted] = useState(lines);
  const { shown, left } = useMemo(() => cutText(text, wanted), [text, wanted]);
  return (
    <div className={`col ${className}`}>
      <pre className="block" tabIndex={0} role="region" aria-label={label ?? "Output"}>
        <StyledPieces text={shown} />
      </pre>
      {left > 0 ? <MoreButton left={left} onMore={() => setWanted(wanted >= 4_000 ? Infinity : wanted * 10)} /> : null}
    </div>
  );
}

/** What an agent says, with its blocks of code set apart. */
export function Said({ text, lines = 200, className = "" }: OutsideTextProps): ReactNode {
  const [wanted, setWanted] = useState(lines);
  const { shown, left } = useMemo(() => cutText(text, wanted), [text, wanted]);
  const blocks = useMemo(() => readBlocks(shown), [shown]);
  return (
    <>
      {blocks.map((block, index) =>
        block.kind === "code" ? (
          <pre key={index} className="block" tabIndex={0} role="region" aria-label="Code">
            <StyledPieces text={block.text} />
          </pre>
        ) : (
          <div key={index} className={`prose ${className}`}>
            <StyledPieces text={block.text} markup />
          </div>
        ),
      )}
      {left > 0 ? <MoreButton left={left} onMore={() => setWanted(wanted * 10)} /> : null}
    </>
  );
}

/** A sentence of a report. What a person decides about is shown by `Words` and `Prose`, sign by sign. */
export function Sentence({ text }: { readonly text: string }): ReactNode {
  return <Inline text={text.replaceAll(/\s+/g, " ")} />;
}

/** Running text, sign by sign. */
export function Prose({ text, lines = 200, className = "" }: OutsideTextProps): ReactNode {
  const [wanted, setWanted] = useState(lines);
  const { shown, left } = useMemo(() => cutText(text, wanted), [text, wanted]);
  return (
    <>
      <div className={`prose ${className}`}>
        <StyledPieces text={shown} />
      </div>
      {left > 0 ? <MoreButton left={left} onMore={() => setWanted(wanted * 10)} /> : null}
    </>
  );
}

/** A few words in a line, such as a name or a title. */
export function Words({ text }: { readonly text: string }): ReactNode {
  return <VisiblePieces text={text.replaceAll(/\s+/g, " ")} />;
}

function MoreButton({ left, onMore }: { readonly left: number; readonly onMore: () => void }): ReactNode {
  return (
    <div>
      <button type="button" className="button tight plain" onClick={onMore}>
        Show more ({count(left)} characters)
      </button>
    </div>
  );
}

function Inline({ text }: { readonly text: string }): ReactNode {
  const pieces = useMemo(() => readInline(text), [text]);
  return pieces.map((piece, index) =>
    piece.kind === "code" ? (
      <code key={index} className="in-line">
        <VisiblePieces text={piece.text} />
      </code>
    ) : piece.kind === "strong" ? (
      <strong key={index}>
        <VisiblePieces text={piece.text} />
      </strong>
    ) : (
      <VisiblePieces key={index} text={piece.text} />
    ),
  );
}

function StyledPieces({ text, markup = false }: { readonly text: string; readonly markup?: boolean }): ReactNode {
  const pieces = useMemo(() => readAnsi(text), [text]);
  return pieces.map((piece, index) => {
    const name = classOf(piece);
    const inner = markup ? <Inline text={piece.text} /> : <VisiblePieces text={piece.text} />;
    return name === "" ? (
      <span key={index}>{inner}</span>
    ) : (
      <span key={index} className={name}>
        {inner}
      </span>
    );
  });
}

function classOf({ fg, bg, bold, dim, italic, underline }: StyledText): string {
  return [
    ...(fg === undefined ? [] : [`fg-${fg}`]),
    ...(bg === undefined ? [] : [`bg-${bg}`]),
    ...(bold === true ? ["ansi-bold"] : []),
    ...(dim === true ? ["ansi-dim"] : []),
    ...(italic === true ? ["ansi-italic"] : []),
    ...(underline === true ? ["ansi-underline"] : []),
  ].join(" ");
}

export function VisiblePieces({ text }: { readonly text: string }): ReactNode {
  const pieces = useMemo(() => visiblePieces(text), [text]);
  return pieces.map((piece, index) =>
    piece.hidden ? (
      <span key={index} className="mark" title="a character that cannot be seen">
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
}
