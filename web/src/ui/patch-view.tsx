// Lines of a patch with numbers, colours and highlighted code; a line can be chosen to comment on it.

import { memo, type ReactNode, useMemo } from "react";

import { highlightLine } from "../text/highlight-code.ts";
import { type PatchHunk, type PatchLine, readPatch } from "../text/read-patch.ts";
import { VisiblePieces } from "./outside-text.tsx";

/** A patch of one file, with or without its header. */
export function PatchLines({ patch, path }: { readonly patch: string; readonly path: string }): ReactNode {
  const hunks = useMemo(() => {
    const whole = patch.startsWith("diff --git ") ? patch : `diff --git a/${path} b/${path}\n${patch}`;
    return readPatch(whole).flatMap((file) => file.hunks);
  }, [patch, path]);
  return <Hunks hunks={hunks} path={path} />;
}

interface HunksProps {
  readonly hunks: readonly PatchHunk[];
  readonly path: string;
  readonly onLine?: ((line: PatchLine) => void) | undefined;
  /** What stands below a line, such as a comment on it. */
  readonly below?: ((line: PatchLine) => ReactNode) | undefined;
}

export function Hunks({ hunks, path, onLine, below }: HunksProps): ReactNode {
  return (
    <div className="patch" role="region" aria-label={path === "" ? "Changes" : `Changes of ${path}`} tabIndex={0}>
      {hunks.map((hunk, index) => (
        <div key={index}>
          <div className="patch-heading">
            <VisiblePieces text={hunk.heading} />
          </div>
          {hunk.lines.map((line, at) => (
            <div key={at}>
              <Line line={line} path={path} onLine={onLine} />
              {below?.(line)}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}

const words = { "+": "added", "-": "removed", " ": "", "\\": "" } as const;
const longest = 2_000;

const Line = memo(function Line({
  line,
  path,
  onLine,
}: {
  readonly line: PatchLine;
  readonly path: string;
  readonly onLine: ((line: PatchLine) => void) | undefined;
}): ReactNode {
  const text = line.text.length > longest ? `${line.text.slice(0, longest)}…` : line.text;
  const number = line.fresh ?? line.old;
  return (
    <div className={`patch-line ${words[line.mark]}`}>
      <span className="patch-number" aria-hidden="true">
        {line.old ?? ""}
      </span>
      <span className="patch-number" aria-hidden="true">
        {line.fresh ?? ""}
      </span>
      <span className="patch-mark">{line.mark}</span>
      <code>
        {highlightLine(text, path).map((piece, index) => (
          <span key={index} className={piece.kind === "plain" ? undefined : `code-${piece.kind}`}>
            <VisiblePieces text={piece.text} />
          </span>
        ))}
      </code>
      {onLine === undefined || number === null ? null : (
        <button
          type="button"
          className="patch-comment"
          aria-label={`Comment on ${words[line.mark]} line ${number}`}
          onClick={() => onLine(line)}
        >
          +
        </button>
      )}
    </div>
  );
});
