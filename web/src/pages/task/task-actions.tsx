// What can be done with a task: send it a message, stop, resume, cancel and retry it.

import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { useAsk, useAsks } from "../../api/queries.ts";
import { useConnection } from "../../api/connection.tsx";
import { attempt } from "../../api/toasts.tsx";
import type { LiveTask } from "../../live/fold-tasks.ts";
import { Dialog } from "../../ui/controls.tsx";
import { MessageBox } from "../../ui/message-box.tsx";

const person = { kind: "person", name: "dashboard" } as const;

/** Whether a person stopped it: then the one question that it has open is whether to resume it. */
function useIsStopped(task: LiveTask): boolean {
  const ask = useAsks().data?.find((each) => each.task === task.id);
  const details = useAsk(ask?.id).data?.details;
  return typeof details === "object" && details !== null && "stopped" in details;
}

export function TaskActions({ task }: { readonly task: LiveTask }): ReactNode {
  const stopped = useIsStopped(task);
  const { tutti } = useConnection();
  const navigate = useNavigate();
  const [asks, setAsks] = useState<"cancel" | "retry">();
  const open = task.ended_at === null;
  const run = async (): Promise<void> => {
    setAsks(undefined);
    if (asks === "cancel") await attempt(() => tutti.cancel(task.id, "canceled from the dashboard"), "Canceled.");
    if (asks !== "retry") return;
    const retried = await attempt(() => tutti.retry(task.id, { giveUp: open }), "It is done again.");
    if (retried !== undefined) await navigate({ to: "/tasks/$task", params: { task: retried.task } });
  };
  return (
    <div className="row">
      {open && task.status !== "pending" && !stopped ? (
        <button
          type="button"
          className="button tight"
          onClick={() =>
            void attempt(
              () => tutti.stopTask(task.id, "stopped from the dashboard"),
              "Stopped. It waits until it is resumed.",
            )
          }
        >
          Stop
        </button>
      ) : null}
      {stopped ? (
        <button
          type="button"
          className="button tight"
          onClick={() => void attempt(() => tutti.resumeTask(task.id, person), "Resumed.")}
        >
          Resume
        </button>
      ) : null}
      {open || task.parent === null ? (
        <button type="button" className="button tight" onClick={() => setAsks("retry")}>
          Retry
        </button>
      ) : null}
      {open ? (
        <button type="button" className="button danger tight" onClick={() => setAsks("cancel")}>
          Cancel
        </button>
      ) : null}
      {asks === undefined ? null : (
        <Dialog
          title={asks === "cancel" ? "Cancel this task?" : "Do this task again?"}
          onClose={() => setAsks(undefined)}
        >
          <p>
            {asks === "cancel"
              ? "The task and all tasks below it end now. A canceled task cannot go on; its branch stays."
              : open
                ? "What the task is doing is given up, and its next attempt begins."
                : "The same work is begun as a new task. The old one stays as it is."}
          </p>
          <div className="dialog-end">
            <button type="button" className="button" onClick={() => setAsks(undefined)}>
              Keep it
            </button>
            <button
              type="button"
              className={`button ${asks === "cancel" ? "danger filled" : "primary"}`}
              onClick={() => void run()}
            >
              {asks === "cancel" ? "Cancel the task" : "Do it again"}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

export function TaskMessage({ task }: { readonly task: LiveTask }): ReactNode {
  const { tutti } = useConnection();
  const [interrupt, setInterrupt] = useState(false);
  if (task.ended_at !== null) return null;
  return (
    <MessageBox
      label="Message to the session"
      placeholder="Say something to the session. It reads it at its next turn."
      button="Send"
      onSend={async (text) =>
        (await attempt(() => tutti.sendMessage(task.id, text, { interrupt }), "Sent.")) !== undefined
      }
    >
      <label className="check tiny soft">
        <input type="checkbox" checked={interrupt} onChange={(event) => setInterrupt(event.target.checked)} />
        <span>Interrupt what it is doing</span>
      </label>
    </MessageBox>
  );
}
