// The work of a task against its base, file by file, with comments on lines that go to the session as one message.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";

import type { WorkspaceDiff } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { diffOptions } from "../../api/queries.ts";
import { attempt } from "../../api/toasts.tsx";
import { plural } from "../../format/show-time.ts";
import type { LiveTask } from "../../live/fold-tasks.ts";
import { type PatchFile, type PatchLine, readPatch } from "../../text/read-patch.ts";
import { Card, Empty, TimeAgo } from "../../ui/controls.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { Hunks } from "../../ui/patch-view.tsx";
import { type LineComment, commentsMessage, placeOf } from "./line-comments.ts";
import { MergeDialog } from "./merge-dialog.tsx";
import { PullRequestDialog } from "./pull-request-dialog.tsx";

export function ChangesView({ task }: { readonly task: LiveTask }): ReactNode {
  const connection = useConnection();
  const diff = useQuery(diffOptions(connection, task));
  if (diff.data === undefined) {
    return diff.error === null ? (
      <p className="empty">Reading the changes…</p>
    ) : (
      <div className="card">
        <Empty title="There are no changes to show">{diff.error.message}</Empty>
      </div>
    );
  }
  return <Changes task={task} diff={diff.data} onRefresh={() => void diff.refetch()} />;
}

function Changes({
  task,
  diff,
  onRefresh,
}: {
  readonly task: LiveTask;
  readonly diff: WorkspaceDiff;
  readonly onRefresh: () => void;
}): ReactNode {
  const { tutti } = useConnection();
  const files = useMemo(() => readPatch(diff.patch), [diff.patch]);
  const [comments, setComments] = useState<readonly LineComment[]>([]);
  const [doing, setDoing] = useState<"merge" | "pull request">();
  const open = task.ended_at === null;
  const add = (file: PatchFile, line: PatchLine): void => {
    const place = placeOf(file.path, line);
    if (comments.some((each) => each.place === place)) return;
    setComments([...comments, { place, path: file.path, line, text: "" }]);
  };
  const change = (place: string, text: string): void =>
    setComments(comments.map((each) => (each.place === place ? { ...each, text } : each)));
  const drop = (place: string): void => setComments(comments.filter((each) => each.place !== place));
  const written = comments.filter(({ text }) => text.trim() !== "");
  const send = async (): Promise<void> => {
    const told = await attempt(() => tutti.sendMessage(diff.task, commentsMessage(written)), "The comments were sent.");
    if (told !== undefined) setComments([]);
  };
  return (
    <div className="col loose">
      <Card
        title={`${plural(diff.total.files, "file")}, +${diff.added} −${diff.removed}`}
        end={
          <span className="row">
            <button type="button" className="button tight" onClick={onRefresh}>
              Read again
            </button>
            {diff.branch === null ? null : (
              <>
                <button type="button" className="button tight" onClick={() => setDoing("pull request")}>
                  Pull request
                </button>
                <button type="button" className="button primary tight" onClick={() => setDoing("merge")}>
                  Merge
                </button>
              </>
            )}
          </span>
        }
        flush
      >
        <div className="item small folding row">
          {diff.branch === null ? null : <code>{diff.branch}</code>}
          <span className="faint">from {diff.base.slice(0, 10)}</span>
          {diff.uncommitted.length === 0 ? null : (
            <span className="warn">
              {plural(diff.uncommitted.length, "file")} with work that is in no commit
              {diff.has_uncommitted ? ", shown as it is now; only commits are merged" : " and is not shown"}
            </span>
          )}
          {diff.patch_cut ? <span className="warn">The patch is longer; only its beginning is here.</span> : null}
        </div>
        {diff.commits.map(({ id, subject, author, at }) => (
          <div key={id} className="item small">
            <code className="faint">{id.slice(0, 8)}</code>
            <span className="grow clip">
              <Words text={subject} />
            </span>
            <span className="tiny faint">
              {author} <TimeAgo at={at} />
            </span>
          </div>
        ))}
      </Card>
      {files.map((file) => (
        <FileCard
          key={file.path}
          file={file}
          comments={comments}
          onAdd={add}
          onChange={change}
          onDrop={drop}
          canComment={open}
        />
      ))}
      {open && files.length > 0 ? (
        <p className="small faint">
          The + beside a line begins a comment. All comments go to the session as one message.
        </p>
      ) : null}
      {comments.length === 0 ? null : (
        <div className="send-comments card">
          <span className="grow">{plural(written.length, "comment")}</span>
          <button type="button" className="button" onClick={() => setComments([])}>
            Discard
          </button>
          <button type="button" className="button primary" disabled={written.length === 0} onClick={() => void send()}>
            Send to the session
          </button>
        </div>
      )}
      {doing === "merge" ? <MergeDialog diff={diff} onClose={() => setDoing(undefined)} /> : null}
      {doing === "pull request" ? <PullRequestDialog diff={diff} onClose={() => setDoing(undefined)} /> : null}
    </div>
  );
}

/** A file of more changed lines is opened by the reader. */
const mostOpen = 400;

function FileCard({
  file,
  comments,
  onAdd,
  onChange,
  onDrop,
  canComment,
}: {
  readonly file: PatchFile;
  readonly comments: readonly LineComment[];
  readonly onAdd: (file: PatchFile, line: PatchLine) => void;
  readonly onChange: (place: string, text: string) => void;
  readonly onDrop: (place: string) => void;
  readonly canComment: boolean;
}): ReactNode {
  const [open, setOpen] = useState(file.added + file.removed <= mostOpen);
  return (
    <section className="card" aria-label={`File ${file.path}`}>
      <header>
        <button type="button" className="tool-head" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className={`twist ${open ? "open" : ""}`} aria-hidden="true">
            ›
          </span>
          <code className="grow clip">
            {file.from === null ? null : (
              <>
                <Words text={file.from} /> →{" "}
              </>
            )}
            <Words text={file.path} />
          </code>
          <span className="tag">{file.change}</span>
          <span className="tiny num good">+{file.added}</span>
          <span className="tiny num bad">−{file.removed}</span>
        </button>
      </header>
      {open ? (
        <Hunks
          hunks={file.hunks}
          path={file.path}
          onLine={canComment ? (line) => onAdd(file, line) : undefined}
          below={(line) => {
            const comment = comments.find(({ place }) => place === placeOf(file.path, line));
            return comment === undefined ? null : (
              <div className="comment">
                <textarea
                  className="input slim"
                  autoFocus
                  aria-label={`Comment on ${file.path} line ${line.fresh ?? line.old ?? ""}`}
                  placeholder="What should be different here?"
                  value={comment.text}
                  onChange={(event) => onChange(comment.place, event.target.value)}
                />
                <button type="button" className="button tight plain" onClick={() => onDrop(comment.place)}>
                  Remove
                </button>
              </div>
            );
          }}
        />
      ) : null}
    </section>
  );
}
