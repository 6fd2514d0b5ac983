// One entry of a transcript: a message, a thought, a tool call with its result, or something that Tutti did.

import { memo, type ReactNode, useState } from "react";

import { argvLine } from "../../../../src/protocol/index.ts";
import { duration } from "../../format/show-time.ts";
import type { ToolEntry, TranscriptEntry } from "../../live/fold-transcript.ts";
import { TimeAgo } from "../../ui/controls.tsx";
import { OutputBlock, Prose, Said, Words } from "../../ui/outside-text.tsx";
import { PatchLines } from "../../ui/patch-view.tsx";

export const EntryView = memo(function EntryView({ entry }: { readonly entry: TranscriptEntry }): ReactNode {
  switch (entry.kind) {
    case "attempt":
      return (
        <div className="entry entry-attempt">
          <span className="label">{entry.text}</span>
        </div>
      );
    case "message":
      return (
        <div className={`entry entry-${entry.role}`}>
          <Head entry={entry} title={speaker(entry.role, entry.name)} />
          <Said text={entry.text} />
        </div>
      );
    case "thought":
      return (
        <div className="entry entry-thought">
          <Head entry={entry} title="Thought" />
          <Said text={entry.text} className="thought" />
        </div>
      );
    case "tool":
      return <ToolCall entry={entry} />;
    case "note":
      return (
        <div className={`entry entry-note tone-${entry.tone}`}>
          <Head entry={entry} title={entry.title} />
          {entry.text === "" ? null : isOutput(entry.title) ? (
            <OutputBlock text={entry.text} lines={8} />
          ) : (
            <Prose text={entry.text} lines={12} className="small soft" />
          )}
        </div>
      );
  }
});

function isOutput(title: string): boolean {
  return title.startsWith("Check ");
}

function speaker(role: string, name: string | null): string {
  if (role === "assistant") return name === null ? "Agent" : name;
  if (role === "user") return "To the agent";
  return role;
}

function Head({ entry, title }: { readonly entry: TranscriptEntry; readonly title: string }): ReactNode {
  return (
    <div className="entry-head">
      <span className="entry-title clip">
        <Words text={title} />
      </span>
      <a href={`#e${entry.seq}`} className="tiny faint">
        <TimeAgo at={entry.at} />
      </a>
    </div>
  );
}

function ToolCall({ entry }: { readonly entry: ToolEntry }): ReactNode {
  const [open, setOpen] = useState(false);
  const { input, result } = entry;
  return (
    <div className="entry entry-tool">
      <button type="button" className="tool-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className={`twist ${open ? "open" : ""}`} aria-hidden="true">
          ›
        </span>
        <code className="tool-name">
          <Words text={entry.name} />
        </code>
        <span className="clip soft small grow">
          <Words text={firstWords(input)} />
        </span>
        <span className="tiny faint num">{result === null ? "running" : duration(result.at - entry.at)}</span>
      </button>
      {open ? (
        <div className="col tool-body">
          <Changes input={input} />
          <span className="label">Arguments</span>
          <OutputBlock text={JSON.stringify(input, null, 2) ?? ""} lines={40} label="Arguments of the call" />
          <span className="label">Result</span>
          {result === null ? (
            <p className="small faint">It has not ended.</p>
          ) : result.text.includes("\n@@ -") || result.text.startsWith("@@ -") ? (
            <PatchLines patch={result.text} path="" />
          ) : (
            <OutputBlock text={result.text} lines={40} label="Result of the call" />
          )}
        </div>
      ) : null}
    </div>
  );
}

/** An edit says what it replaces, which reads best as a change. */
function Changes({ input }: { readonly input: unknown }): ReactNode {
  const [old, fresh, path] = ["old", "new", "path"].map((name) => textIn(input, name));
  if (old === undefined || fresh === undefined) return null;
  const [removed, added] = [old.split("\n"), fresh.split("\n")];
  const patch = [
    `@@ -1,${removed.length} +1,${added.length} @@`,
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
  ].join("\n");
  return <PatchLines patch={patch} path={path ?? ""} />;
}

function textIn(value: unknown, name: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const found: unknown = Reflect.get(value, name);
  return typeof found === "string" ? found : undefined;
}

function wordText(word: unknown): string {
  return typeof word === "string" ? word : (JSON.stringify(word) ?? "");
}

function firstWords(input: unknown): string {
  if (input === null || typeof input !== "object") return "";
  const argv: unknown = Reflect.get(input, "argv");
  if (Array.isArray(argv)) return argvLine(argv.map(wordText));
  for (const name of ["command", "path", "pattern", "query", "question", "content", "url"]) {
    const text = textIn(input, name);
    if (text !== undefined) return text.slice(0, 200);
  }
  return (JSON.stringify(input) ?? "").slice(0, 200);
}
