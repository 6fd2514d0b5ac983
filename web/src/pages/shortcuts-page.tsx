// All keys of the dashboard on one page.

import type { ReactNode } from "react";

import { pageKeys } from "../page-keys.ts";
import { Card } from "../ui/controls.tsx";

const groups: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl K", "Go to a page, a goal or a task, or search"],
      ["/", "The same"],
      ["?", "This page"],
      ...Object.entries(pageKeys)
        .filter(([key]) => key !== "?")
        .map(([key, { title }]): readonly [string, string] => [`g ${key}`, title]),
      ["Esc", "Close a dialog"],
    ],
  },
  {
    title: "Inbox on the home page",
    keys: [
      ["j", "Next question"],
      ["k", "Question before"],
      ["y", "Approve, or go on"],
      ["n", "Deny, or stop"],
      ["1 … 9", "Choose an answer"],
      ["Enter", "Write an answer"],
      ["Ctrl Enter", "Send the answer"],
    ],
  },
  {
    title: "Task",
    keys: [
      ["Ctrl Enter", "Send the message or the comments"],
      ["← →", "Other part of the task, when its name has the focus"],
    ],
  },
];

export function ShortcutsPage(): ReactNode {
  return (
    <div className="page">
      <h1>Shortcuts</h1>
      {groups.map(({ title, keys }) => (
        <Card key={title} title={title}>
          <dl className="facts">
            {keys.map(([key, what]) => (
              <div key={key} className="shortcut">
                <dt>
                  {key.split(" ").map((each) => (
                    <kbd key={each}>{each}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </Card>
      ))}
    </div>
  );
}
