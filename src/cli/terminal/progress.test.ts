import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";

import {
  agent,
  completed,
  created,
  eventsOf,
  type Happening,
  started,
  top,
} from "../../../test/support/task-events.ts";
import { emptyTree, type FoldedTree, foldTree } from "../../core/fold-tree.ts";
import type { Display } from "./display.ts";
import { liveTree } from "./progress.ts";
import { screenOver } from "./screen.ts";

interface Screen {
  readonly display: Display;
  readonly tree: FoldedTree;
  readonly writes: string[];
  readonly happens: (...happenings: Happening[]) => void;
}

/** A live tree on a screen that keeps what is written to it, 40 columns wide. */
function onScreen(t: TestContext): Screen {
  t.mock.timers.enable({ apis: ["setInterval", "Date"], now: 100 });
  const writes: string[] = [];
  const screen = screenOver(() => ({
    isTTY: true,
    columns: 40,
    rows: 10,
    write: (text: string | Uint8Array) => writes.push(String(text)) > 0,
  }));
  const display = liveTree(screen);
  t.after(() => display.stop());
  const tree = emptyTree(top);
  return {
    display,
    tree,
    writes,
    happens(...happenings) {
      for (const event of eventsOf(happenings)) {
        const next = { ...event, seq: tree.seq + 1 };
        foldTree(tree, next);
        display.update({ event: next }, tree);
      }
    },
  };
}

describe("the live tree", () => {
  test("is drawn at most every 100 ms, however many events there are", (t) => {
    const { writes, happens } = onScreen(t);
    for (let count = 0; count < 500; count += 1) happens(created(top), started(top));
    assert.deepEqual(writes, []);
    t.mock.timers.tick(100);
    assert.equal(writes.length, 1);
    assert.match(writes[0] ?? "", /^▸ a tsk_s_1 running 100 ms\n0 of 1 done/);
  });

  test("replaces what was drawn before, and no line is longer than the screen is wide", (t) => {
    const { writes, happens } = onScreen(t);
    happens(created(top), created(agent, top, { agent: "x".repeat(100) }));
    t.mock.timers.tick(100);
    t.mock.timers.tick(100);
    assert.equal(writes[1], "\r\u001b[3A\u001b[0J");
    assert.ok(
      (writes[2] ?? "").split("\n").every((line) => line.length < 40),
      writes[2],
    );
  });

  test("is cleared while a question is asked, and drawn again afterwards", (t) => {
    const { display, writes, happens } = onScreen(t);
    happens(created(top));
    t.mock.timers.tick(100);
    display.pause();
    assert.equal(writes.at(-1), "\r\u001b[2A\u001b[0J");
    const before = writes.length;
    t.mock.timers.tick(1_000);
    assert.equal(writes.length, before);
    display.resume();
    t.mock.timers.tick(100);
    assert.equal(writes.length, before + 1);
  });

  test("shows the final state when it is stopped, and nothing after that", (t) => {
    const { display, writes, happens } = onScreen(t);
    happens(created(top), started(top));
    t.mock.timers.tick(100);
    happens(created(agent, top), completed(agent), completed(top));
    display.pause();
    display.stop();
    assert.match(writes.at(-1) ?? "", /^✓ a tsk_s_1 completed .*\n└─ · a tsk_s_2 pending .*\n1 of 2 done/);
    const before = writes.length;
    t.mock.timers.tick(1_000);
    assert.equal(writes.length, before);
  });
});
