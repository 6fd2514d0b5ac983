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
import { showTranscript, type Transcript } from "./transcript.ts";

interface Shown {
  readonly display: Transcript;
  readonly text: () => string;
  readonly happens: (...happenings: Happening[]) => void;
  /** The next piece of a reply, unless it is said where it stands. */
  readonly writes: (task: string, key: string, text: string, offset?: number) => void;
  readonly notice: (task: string, key: string, text: string) => void;
}

/** The invocation, the agent that was run and one below it; their creation shows nothing but the last one's prompt. */
function transcript(t: TestContext): Shown {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let text = "";
  const written = new Map<string, number>();
  const display = showTranscript(top, {
    screen: { write: (piece) => (text += piece) !== "", isTerminal: true, columns: 40 },
  });
  const tree = emptyTree(top);
  const happens = (...happenings: Happening[]): void => {
    for (const event of eventsOf(happenings)) display.update({ event }, tree);
  };
  happens(created(top), created(agent, top, { agent: "lead" }));
  return {
    display,
    text: () => text,
    happens,
    writes(task, key, piece, offset) {
      const from = offset ?? written.get(key) ?? 0;
      written.set(key, from + piece.length);
      display.update(
        { live: { task, root: top, attempt: 1, run: 1, key, channel: "text", offset: from, text: piece } },
        tree,
      );
    },
    notice(task, key, said) {
      written.delete(key);
      display.update(
        { live: { task, root: top, attempt: 1, run: 1, key, channel: "notice", offset: 0, text: said } },
        tree,
      );
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

const long = "The first row of this reply is full now, and the second is not.";

test("text appears row by row while it is written, and the finished message adds only the rest", (t) => {
  const { text, happens, writes } = transcript(t);
  writes(agent, "model:1", long.slice(0, 20));
  assert.equal(text(), "", "it is held back at first");
  t.mock.timers.tick(40);
  writes(agent, "model:1", long.slice(20, 60));
  assert.equal(text(), "lead\n  The first row of this reply is full\n");
  happens(reply(agent, "model:1", `${long}\n\nEnd.`));
  assert.equal(text(), "lead\n  The first row of this reply is full\n  now, and the second is not.\n\n  End.\n");
});

test("whoever joins in the middle of a reply, or misses a piece, sees nothing twice and no tail", (t) => {
  const joined = transcript(t);
  joined.writes(agent, "model:1", long.slice(30), 30);
  t.mock.timers.tick(40);
  assert.equal(joined.text(), "");
  joined.happens(reply(agent, "model:1", long));
  const whole = "lead\n  The first row of this reply is full\n  now, and the second is not.\n";
  assert.equal(joined.text(), whole);
  t.mock.timers.reset();
  const missed = transcript(t);
  missed.writes(agent, "model:1", long.slice(0, 55));
  t.mock.timers.tick(40);
  missed.writes(agent, "model:1", long.slice(58), 58);
  missed.happens(reply(agent, "model:1", long));
  assert.equal(missed.text(), whole);
});

test("a reply that is asked for again says so in words, and begins anew", (t) => {
  const { text, happens, writes, notice } = transcript(t);
  writes(agent, "model:1", "Wro");
  t.mock.timers.tick(40);
  notice(agent, "model:1", "rate limit; trying again in about 4 s (2 of 3)");
  writes(agent, "model:1", "Ri");
  t.mock.timers.tick(40);
  happens(reply(agent, "model:1", "Right."));
  const notes = "  ↻ rate limit; trying again in about 4\n    s (2 of 3)";
  assert.equal(text(), `lead\n  Wro\n${notes}\n  Right.\n`);
});

test("the result is known to be on the screen when the agent's last text was the same", (t) => {
  const { display, happens } = transcript(t);
  happens(reply(agent, "model:1", "Hello.\n"));
  assert.deepEqual([display.endsWith("Hello."), display.endsWith("Other"), display.endsWith("")], [true, false, false]);
});

test("Markdown is shown, calls have readable arguments, and results their own lines", (t) => {
  const { text, happens } = transcript(t);
  const call = {
    part_type: "tool_call",
    data: { tool_call_id: "c", tool_name: "run", input: { argv: ["ls", "-l"], cwd: "." } },
  };
  happens(said(agent, { parts: [{ part_type: "text", data: "- a list with a rather long first item in it" }, call] }));
  const data = JSON.stringify({ exit_code: 0, stdout: "a.ts\nb.ts\n" });
  const result = {
    part_type: "tool_result",
    data: { tool_call_id: "c", tool_name: "run", parts: [{ part_type: "text", data }] },
  };
  happens(said(agent, { role: "tool", parts: [result] }));
  assert.equal(
    text(),
    [
      "lead",
      "  • a list with a rather long first item",
      "    in it",
      "  → run",
      "    argv: ls, -l",
      "    cwd: .",
      "  ← run",
      "    exit_code: 0",
      "    stdout:",
      "      a.ts",
      "      b.ts",
      "",
    ].join("\n"),
  );
});

test("while one agent writes, the others wait", (t) => {
  const { text, happens, writes } = transcript(t);
  happens(created(helper, agent, { agent: "counter", prompt: "Count." }));
  writes(agent, "model:1", "One mo");
  t.mock.timers.tick(40);
  assert.match(text(), /lead\n$/);
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

test("nothing is shown while a question is asked; afterwards everything that happened is, and nothing twice", (t) => {
  const { display, text, happens, writes } = transcript(t);
  writes(agent, "model:1", long.slice(0, 55));
  t.mock.timers.tick(40);
  display.pause();
  const before = "lead\n  The first row of this reply is full\n";
  assert.equal(text(), before);
  writes(agent, "model:1", long.slice(55));
  happens(reply(agent, "model:1", long));
  writes(agent, "model:2", "Late");
  assert.equal(text(), before);
  display.resume();
  assert.equal(text(), `${before}  now, and the second is not.\n`);
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
  assert.match(text(), /One mo\n {2}counter\n {4}✓ 3\n$/);
});

test("replies of a rehearsal say so", (t) => {
  const { text, happens } = transcript(t);
  happens(said(agent, { text: "Hello.", name: "rehearsal" }));
  assert.equal(text(), "lead (rehearsal)\n  Hello.\n");
});
