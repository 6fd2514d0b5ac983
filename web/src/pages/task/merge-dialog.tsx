// Merges the branch of a task from the page, after the person has seen what that means.

import { type ReactNode, useState } from "react";

import type { WorkspaceDiff } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { tell } from "../../api/toasts.tsx";
import { Dialog } from "../../ui/controls.tsx";
import { useDialogWork } from "../../ui/dialog-problem.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { attemptOf } from "./attempt-of.ts";

export function MergeDialog({
  diff,
  onClose,
}: {
  readonly diff: WorkspaceDiff;
  readonly onClose: () => void;
}): ReactNode {
  const { tutti } = useConnection();
  const [into, setInto] = useState("main");
  const [unverified, setUnverified] = useState(false);
  const [checkedOut, setCheckedOut] = useState(false);
  const [approved, setApproved] = useState(false);
  const { busy, problem, run } = useDialogWork();
  const merge = async (): Promise<void> => {
    const merged = await run(() =>
      tutti.mergeTask(diff.task, {
        into: into.trim(),
        attempt: attemptOf(diff),
        unverified,
        allow_checked_out: checkedOut,
        protected: approved ? diff.protected : [],
      }),
    );
    if (merged === undefined) return;
    tell(`Merged into ${into.trim()}.`);
    onClose();
  };
  return (
    <Dialog title="Merge this work" onClose={onClose}>
      <form
        className="col loose"
        onSubmit={(event) => {
          event.preventDefault();
          void merge();
        }}
      >
        <p className="small soft">
          The branch <code>{diff.branch}</code> is merged. A conflict changes nothing and is told.
        </p>
        <label className="field">
          <span>Into the branch</span>
          <input className="input mono" value={into} onChange={(event) => setInto(event.target.value)} required />
        </label>
        <label className="check small">
          <input type="checkbox" checked={unverified} onChange={(event) => setUnverified(event.target.checked)} />
          <span>Merge it also if nothing has verified it</span>
        </label>
        <label className="check small">
          <input type="checkbox" checked={checkedOut} onChange={(event) => setCheckedOut(event.target.checked)} />
          <span>The branch may be checked out; that checkout is changed, and must be clean</span>
        </label>
        {diff.protected.length === 0 ? null : (
          <label className="check small">
            <input type="checkbox" checked={approved} onChange={(event) => setApproved(event.target.checked)} />
            <span>
              I have looked at the protected files: <Words text={diff.protected.join(", ")} />
            </span>
          </label>
        )}
        {problem}
        <div className="dialog-end">
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
          <button type="submit" className="button primary" disabled={busy || into.trim() === ""}>
            Merge
          </button>
        </div>
      </form>
    </Dialog>
  );
}
