// Makes a pull request of the work of a task: shows what would leave the machine, and does exactly that when the person agrees.

import { type ReactNode, useState } from "react";

import type { OpenedPullRequest, PullRequestPlan, WorkspaceDiff } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { plural } from "../../format/show-time.ts";
import { Dialog, Facts } from "../../ui/controls.tsx";
import { useDialogWork } from "../../ui/dialog-problem.tsx";
import { Words } from "../../ui/outside-text.tsx";
import { attemptOf } from "./attempt-of.ts";

export function PullRequestDialog({
  diff,
  onClose,
}: {
  readonly diff: WorkspaceDiff;
  readonly onClose: () => void;
}): ReactNode {
  const { tutti } = useConnection();
  const [wanted, setWanted] = useState({ base: "", remote: "origin", title: "" });
  const [plan, setPlan] = useState<PullRequestPlan>();
  const [opened, setOpened] = useState<OpenedPullRequest>();
  const { busy, problem, run } = useDialogWork();
  const attempt = attemptOf(diff);
  const doing = async (work: () => Promise<void>): Promise<void> => {
    // When it fails, what was shown may not hold any more, so it has to be looked at again.
    if ((await run(work)) === undefined) setPlan(undefined);
  };
  const look = async (): Promise<void> => {
    const [base, remote, title] = [wanted.base.trim(), wanted.remote.trim(), wanted.title.trim()];
    const given = { ...(base === "" ? {} : { base }), ...(title === "" ? {} : { title }) };
    setPlan(await tutti.pullRequestPlan(diff.task, { attempt, remote, ...given }));
  };
  const open = async (agreed: PullRequestPlan): Promise<void> => {
    const { branch, tip, remote, url, title, base } = agreed;
    setOpened(await tutti.openPullRequest(diff.task, { attempt, branch, tip, remote, url, title, base }));
  };
  const field = (name: keyof typeof wanted, label: string, placeholder: string): ReactNode => (
    <label className="field">
      <span>{label}</span>
      <input
        className="input mono"
        value={wanted[name]}
        placeholder={placeholder}
        required={name === "remote"}
        onChange={(event) => setWanted({ ...wanted, [name]: event.target.value })}
      />
    </label>
  );
  return (
    <Dialog title="Make a pull request" onClose={onClose}>
      <form
        className="col loose"
        onSubmit={(event) => {
          event.preventDefault();
          void doing(async () => (plan === undefined ? look() : open(plan)));
        }}
      >
        {opened !== undefined ? (
          <Opened opened={opened} />
        ) : plan !== undefined ? (
          <Plan plan={plan} />
        ) : (
          <>
            <p className="small soft">
              The branch <code>{diff.branch}</code> is pushed with the git of the daemon’s machine, and the pull request
              is opened with its <code>gh</code>. You see what leaves the machine before it does.
            </p>
            {field("base", "Into the branch", "the one that the repository chooses")}
            {field("remote", "Push to the remote", "origin")}
            {field("title", "Title", "that of the first commit")}
          </>
        )}
        {problem}
        <div className="dialog-end">
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
          {opened !== undefined ? null : (
            <button type="submit" className="button primary" disabled={busy || wanted.remote.trim() === ""}>
              {plan === undefined ? "Show what would be pushed" : "Push it and open the pull request"}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function Plan({ plan }: { readonly plan: PullRequestPlan }): ReactNode {
  const { branch, tip, commits, url, base, title, verification, uncommitted } = plan;
  return (
    <>
      <p className="small soft">This leaves the machine, and cannot be taken back:</p>
      <Facts
        rows={[
          [
            "Push",
            <span key="b">
              <code>
                <Words text={branch} />
              </code>
              , {plural(commits, "commit")} up to <code>{tip.slice(0, 10)}</code>
            </span>,
          ],
          [
            "To",
            <code key="u">
              <Words text={url} />
            </code>,
          ],
          ["Into", base === null ? "the branch that the repository chooses" : <code key="i">{base}</code>],
          ["Title", <Words key="t" text={title} />],
          [
            "Verified",
            <span key="v" className={verification.state === "verified" ? "good" : "warn"}>
              {verification.state === "verified" ? "yes: " : "no: "}
              <Words text={verification.reason} />
            </span>,
          ],
        ]}
      />
      {uncommitted.length === 0 ? null : (
        <p className="small warn">{plural(uncommitted.length, "file")} with uncommitted work is not pushed.</p>
      )}
      {plan.protected.length === 0 ? null : (
        <p className="small warn">
          Protected files that nobody has approved: <Words text={plan.protected.slice(0, 20).join(", ")} />
          {plan.protected.length > 20 ? ` and ${plan.protected.length - 20} more` : ""}
        </p>
      )}
    </>
  );
}

function Opened({ opened }: { readonly opened: OpenedPullRequest }): ReactNode {
  const { number, url, branch, base, existed } = opened;
  return (
    <p className="small" role="status">
      {existed ? "The branch was pushed to the pull request that existed already: " : "The pull request is open: "}
      {/^https?:\/\//.test(url) ? (
        <a href={url} target="_blank" rel="noopener noreferrer">
          #{number}
        </a>
      ) : (
        `#${number}`
      )}{" "}
      from{" "}
      <code>
        <Words text={branch} />
      </code>{" "}
      into{" "}
      <code>
        <Words text={base} />
      </code>
      .
    </p>
  );
}
