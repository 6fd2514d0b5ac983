import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import {
  agent,
  completed,
  created,
  eventsOf,
  type Happening,
  helper,
  said,
  top,
} from "../../../test/support/task-events.ts";
import { emptyTree } from "../../core/fold-tree.ts";
import type { Display } from "./display.ts";
import { showTranscript } from "./transcript.ts";

interface Shown {
  readonly display: Display;
  readonly text: () => string;
  readonly happens: (...happenings: Happening[]) => void;
  readonly writes: (task: string, key: string, text: string) => void;
}

/** The invocation, the agent that was run and one below it; their creation shows nothing but the last one's prompt. */
function transcript(t: TestContext): Shown {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let text = "";
  const display = showTranscript(top, { write: (piece) => (text += piece) !== "" });
  const tree = emptyTree(top);
  const happens = (...happenings: Happening[]): void => {
    for (const event of eventsOf(happenings)) display.update({ event }, tree);
  };
  happens(created(top), created(agent, top, { agent: "lead" }));
  return {
    display,
    text: () => text,
    happens,
    writes(task, key, piece) {
      const delta = { task, root: top, attempt: 1, run: 1, key, channel: "text", text: piece } as const;
      display.update({ live: delta }, tree);
    },
  };
}

const reply = (task: string, key: string, text: string): Happening =>
  said(task, { text, step: { key, tokens: 1, money_micro_usd: 0 } });

test("an agent's text is shown below its name, and agents below it are indented further", (t) => {
  const { text, happens } = transcript(t);
  happens(
    said(agent, { text: "I look.\nThen I ask." }),
    created(helper, agent, { agent: "counter", prompt: "Count." }),
  );
  happens(said(helper, { text: "Three." }), completed(helper, 3), said(agent, { text: "Three it is." }));
  assert.equal(
    text(),
    [
      "lead",
      "  I look.",
      "  Then I ask.",
      "  ▸ counter: Count.",
      "  counter",
      "    Three.",
      "    ✓ 3",
      "lead",
      "  Three it is.",
      "",
    ].join("\n"),
  );
});

test("text appears while it is written, and the finished message adds only the rest", (t) => {
  const { text, happens, writes } = transcript(t);
  writes(agent, "model:1", "Hel");
  assert.equal(text(), "", "it is held back at first");
  t.mock.timers.tick(40);
  assert.equal(text(), "lead\n  Hel");
  writes(agent, "model:1", "lo");
  assert.equal(text(), "lead\n  Hello");
  happens(reply(agent, "model:1", "Hello, you."));
  assert.equal(text(), "lead\n  Hello, you.\n");
});

test("while one agent writes, the others wait", (t) => {
  const { text, happens, writes } = transcript(t);
  happens(created(helper, agent, { agent: "counter", prompt: "Count." }));
  writes(agent, "model:1", "One mo");
  t.mock.timers.tick(40);
  happens(said(helper, { text: "Three." }));
  writes(helper, "model:1", "Four");
  assert.doesNotMatch(text(), /Three|Four/);
  happens(reply(agent, "model:1", "One moment."));
  assert.match(text(), /lead\n {2}One moment\.\n {2}counter\n {4}Three\.\n$/);
});

test("events that arrive during the first moments of a reply are shown before it", (t) => {
  const { text, happens, writes } = transcript(t);
  writes(agent, "model:2", "Second");
  happens(reply(agent, "model:1", "First."));
  t.mock.timers.tick(40);
  happens(reply(agent, "model:2", "Second."));
  assert.equal(text(), "lead\n  First.\n  Second.\n");
});

test("a call that is made again begins a new line, and text of the first try does not count", (t) => {
  const { text, happens, writes } = transcript(t);
  writes(agent, "model:1", "Wro");
  t.mock.timers.tick(40);
  writes(agent, "model:1.2", "Right");
  t.mock.timers.tick(40);
  happens(reply(agent, "model:1.2", "Right."));
  assert.equal(text(), "lead\n  Wro\n  Right.\n");
});

test("nothing is shown while a question is asked; afterwards everything that happened is", (t) => {
  const { display, text, happens, writes } = transcript(t);
  writes(agent, "model:1", "Let me a");
  t.mock.timers.tick(40);
  display.pause();
  assert.equal(text(), "lead\n  Let me a\n");
  happens(reply(agent, "model:1", "Let me ask."));
  writes(agent, "model:2", "Late");
  assert.equal(text(), "lead\n  Let me a\n");
  display.resume();
  assert.equal(text(), "lead\n  Let me a\n  Let me ask.\n");
});

test("the end of the agent itself is not shown, since the command prints the result", (t) => {
  const { display, text, happens } = transcript(t);
  happens(completed(agent, "42"), completed(top, "42"));
  display.stop();
  assert.equal(text(), "");
});

test("stop shows what still waited behind a reply that never ended", (t) => {
  const { display, text, happens, writes } = transcript(t);
  happens(created(helper, agent, { agent: "counter", prompt: "Count." }));
  writes(agent, "model:1", "One mo");
  t.mock.timers.tick(40);
  happens(completed(helper, 3));
  display.stop();
  assert.match(text(), /One mo\n {4}✓ 3\n$/);
});

test("replies of a rehearsal say so", (t) => {
  const { text, happens } = transcript(t);
  happens(said(agent, { text: "Hello.", name: "rehearsal" }));
  assert.equal(text(), "lead (rehearsal)\n  Hello.\n");
});
