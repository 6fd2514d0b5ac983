// Starts a goal from the page. Unless the person chooses otherwise, its plan is shown before anything is begun.

import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { useConnection } from "../../api/connection.tsx";
import { Dialog } from "../../ui/controls.tsx";
import { useDialogWork } from "../../ui/dialog-problem.tsx";

const lastFolder = "tutti.folder";

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

export function NewGoalDialog({
  onClose,
  folders = [],
}: {
  readonly onClose: () => void;
  readonly folders?: readonly string[];
}): ReactNode {
  const { tutti } = useConnection();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [folder, setFolder] = useState(sessionStorage.getItem(lastFolder) ?? folders[0] ?? "");
  const [accept, setAccept] = useState("");
  const [checks, setChecks] = useState("");
  const [plan, setPlan] = useState(true);
  const { busy, problem, run } = useDialogWork();

  async function start(): Promise<void> {
    const started = await run(() =>
      tutti.startGoal({
        text: text.trim(),
        folder: folder.trim(),
        accept: linesOf(accept),
        checks: linesOf(checks),
        plan,
      }),
    );
    if (started === undefined) return;
    sessionStorage.setItem(lastFolder, folder.trim());
    onClose();
    await navigate({ to: "/goals/$goal", params: { goal: started.value.goal } });
  }

  return (
    <Dialog title="New goal" onClose={onClose}>
      <form
        className="col loose"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label className="field">
          <span>What should be reached?</span>
          <textarea
            className="input"
            autoFocus
            required
            placeholder="The total of an empty basket is 0.00"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Folder</span>
          <input
            className="input mono"
            required
            list="goal-folders"
            placeholder="/home/you/project"
            value={folder}
            onChange={(event) => setFolder(event.target.value)}
          />
          <small>The only folder that the work may touch. Your checkout stays as it is: the result is a branch.</small>
          <datalist id="goal-folders">
            {folders.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
        <label className="field">
          <span>What must be true in the end</span>
          <textarea
            className="input slim"
            rows={2}
            placeholder="One criterion on each line; no model can drop or change them"
            value={accept}
            onChange={(event) => setAccept(event.target.value)}
          />
        </label>
        <label className="field">
          <span>Checks that Tutti runs</span>
          <textarea
            className="input slim mono"
            rows={2}
            placeholder="npm test"
            value={checks}
            onChange={(event) => setChecks(event.target.value)}
          />
        </label>
        <label className="check small">
          <input type="checkbox" checked={plan} onChange={(event) => setPlan(event.target.checked)} />
          <span>Show me the plan before anything is begun</span>
        </label>
        {problem}
        <div className="dialog-end">
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
          <button
            type="submit"
            className="button primary"
            disabled={busy || text.trim() === "" || folder.trim() === ""}
          >
            {plan ? "Make a plan" : "Start"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
