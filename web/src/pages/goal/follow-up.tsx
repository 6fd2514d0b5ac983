// What a person can still say: a message to the manager of a goal that is under way, or a new goal after it.

import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import type { GoalView } from "../../../../src/client/index.ts";
import { useConnection } from "../../api/connection.tsx";
import { attempt } from "../../api/toasts.tsx";
import { isEnded } from "../../live/fold-goal-view.ts";
import { Card } from "../../ui/controls.tsx";
import { MessageBox } from "../../ui/message-box.tsx";

export function FollowUp({ goal }: { readonly goal: GoalView }): ReactNode {
  const { tutti } = useConnection();
  const navigate = useNavigate();
  const [plan, setPlan] = useState(true);
  const ended = isEnded(goal.status);
  const send = async (text: string): Promise<boolean> => {
    if (!ended)
      return (
        (await attempt(() => tutti.tellGoal(goal.id, text), "The manager gets it at its next turn.")) !== undefined
      );
    const folder = goal.roots[0] ?? "";
    const before = `This follows the goal ${goal.id}: ${goal.text}`;
    const started = await attempt(() => tutti.startGoal({ text: `${text}\n\n${before}`, folder, plan }));
    if (started === undefined) return false;
    await navigate({ to: "/goals/$goal", params: { goal: started.goal } });
    return true;
  };
  return (
    <Card title={ended ? "Follow-up" : "Tell the manager"}>
      <div className="col">
        <MessageBox
          label={ended ? "A new goal that follows this one" : "Message to the manager"}
          placeholder={
            ended ? "What should come next?" : "Say something to the manager. `stop NAME` ends one of its tasks."
          }
          button={ended ? "Start follow-up" : "Send"}
          onSend={send}
        />
        {ended ? (
          <label className="check tiny soft">
            <input type="checkbox" checked={plan} onChange={(event) => setPlan(event.target.checked)} />
            <span>Show me the plan first</span>
          </label>
        ) : null}
      </div>
    </Card>
  );
}
