// The first day of a person with Tutti, on real terminals of 80 and of 40 columns. What counts is what the person sees.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { readDaemonFile } from "../../src/daemon/lifecycle/daemon-file.ts";
import { hasTerminals, type Person, personAt } from "../support/person.ts";

const definition = `---
name: helper
description: Helps.
tools: read, list, edit, run, ask
approvals: { write: ask, execute: ask }
---

You help.
`;
const before = "Bring the red balloons.\n";
const line = "Bring the blue balloons, the long table and all of the chairs to the garden before noon.";
const program = ["node", "--eval", "console.log('everything that was checked is as it should be')"];
const said = "I look at the list of things to bring first, since all the rest depends on it.";
const evil = "\u001b[2J\u001b]0;owned\u0007\u009b1A";
const question = "Which of the two gardens is the right one for a party of this size?";
const answer = "The list is right, and everything is ready.";

const check = { tool: "run", args: { argv: program } };
const edit = { tool: "edit", args: { path: "list.txt", old: before.trim(), new: line } };
const ask = { tool: "ask", args: { question, choices: ["north", "south"] } };
const day = {
  rules: [
    {
      turn: 0,
      say: `${said}\n\n- a first point that is too long for one row of a narrow terminal\n- ${evil}`,
      call: [edit],
    },
    { turn: 1, call: [check] },
    { turn: 2, call: [check] },
    { turn: 3, call: [ask] },
    { say: answer },
  ],
};
const later = { rules: [{ turn: 0, say: "I have a question.", call: [ask] }, { say: answer }] };
const beside = { rules: [{ say: "Beside the other one." }] };

const times = (text: string, wanted: string): number => text.split(wanted).length - 1;
/** Without line breaks and indents, so that text is found however it is wrapped. */
const flat = (text: string): string => text.replaceAll(/\s*\n\s*/g, " ");
const squeezed = (text: string): string => text.replaceAll(/\s/g, "");

async function firstRun(person: Person, columns: number): Promise<void> {
  const made = await person.run(0, "agents", "new", "helper");
  assert.ok(squeezed(made).includes("/.tutti/agents/helper.mdedit"), made);
  assert.match(flat(made), /edit it, then run `tutti agents check` and `tutti agents run helper "…"`/);
  const rehearsed = await person.run(0, "agents", "run", "helper", "What is here?");
  assert.match(rehearsed, /^ {2}→ list path: \.$/m);
  assert.equal(times(flat(rehearsed), "nobody read your message"), 1);
  person.file(".tutti/agents/helper.md", definition);
  person.file("list.txt", before);
  person.file("day.json", day);

  const first = person.start("agents", "run", "helper", "Prepare the party", "--script", "day.json");
  await first.sees(/May helper change this file\?[^]*\n>$/);
  assert.equal(times(flat(first.text()), said), 1, "what was written live is not written again");
  assert.match(first.text(), /\n {2}• a first point/);
  const asked = first.text().slice(first.text().indexOf("May helper"));
  assert.match(asked, /\n {2}-Bring the red balloons\.\n {2}\+Bring the blue balloons/);
  // At 80 columns the line takes two rows as well.
  assert.ok(
    squeezed(asked)
      .replaceAll("↳", "")
      .includes(squeezed(`+${line}`)),
    asked,
  );
  assert.match(asked, /\n {2}↳ [^\n]*before noon\.\n/, "a row in which the line goes on has no sign of a diff");
  first.types("y");

  await first.sees(/May helper run this program\?[^]*\n {4}\| node --eval[^]*\n>$/);
  assert.equal(person.read("list.txt"), `${line}\n`);
  first.types("a");
  await first.sees(
    /From\s+now\s+on,\s+in\s+this\s+project,\s+this\s+runs\s+without\s+asking:\n {2}the command node[^]*\n>$/,
  );
  first.types("y");
  // The second call of the same program is not asked about, and the rule that allows it is named.
  await first.sees(/allowed by apr_\w+/);
  await first.sees(/Your answer:\n>$/);

  // Another run beside it, the list of questions, and the answer, each from another terminal.
  person.file("beside.json", beside);
  const second = await person.run(0, "agents", "run", "helper", "Something else", "--script", "beside.json");
  assert.equal(times(second, "Beside the other one."), 1);
  const asks = await person.run(0, "asks");
  assert.ok(flat(asks).includes(question), asks);
  const [, id = ""] = /^\? (ask_\w+)/m.exec(asks) ?? [];
  assert.match(flat(await person.run(0, "tasks")), /\? tsk_\w+ +asks you: Which of the two gardens/);
  await person.run(0, "answer", id, "south");
  await first.sees(new RegExp(`${id} was answered by`));
  assert.equal(await first.ended, 0);
  assert.equal(times(flat(first.text()), answer), 1, "the final answer is printed once");
  assert.equal(times(first.text(), "May helper run this program?"), 1);

  const rules = await person.run(0, "approvals", "list");
  assert.ok(squeezed(rules).includes(squeezed("node --eval")), rules);
  const [rule = ""] = /apr_\w+/.exec(rules) ?? [];
  assert.match(flat(await person.run(0, "approvals", "revoke", rule)), /revoked; you will be asked again/);
  assert.match(flat(await person.run(0, "approvals", "list")), /nothing is allowed for good/);
  assert.ok(columns === 80 || first.text().split("\n").length > 60);
}

async function restOfTheDay(person: Person): Promise<void> {
  person.file("later.json", later);
  const detached = await person.run(
    0,
    "agents",
    "run",
    "helper",
    "Find a garden",
    "--detach",
    "--script",
    "later.json",
  );
  const [task = ""] = /^tsk_\w+$/m.exec(detached) ?? [];
  const attached = person.start("attach", task);
  await attached.sees(/I have a question\.[^]*Your answer:\n>$/);
  attached.interrupts();
  await attached.sees(/left; it goes on, come back with/);
  assert.equal(await attached.ended, 130);

  const { pid } = readDaemonFile(person.state) ?? {};
  assert.ok(pid !== undefined);
  process.kill(pid, "SIGKILL");
  assert.match(flat(await person.run(0, "tasks")), new RegExp(`${task} .*Which of the two gardens`));

  // Following it starts a daemon, which goes on where the killed one was.
  const again = person.start("attach", "last");
  await again.sees(/I have a question\.[^]*Your answer:\n>$/);
  again.types("north");
  assert.equal(await again.ended, 0);
  assert.equal(times(flat(again.text()), answer), 1);
  assert.equal(times(again.text(), "I have a question."), 1);

  const retried = await person.run(0, "retry", "last");
  const [anew = ""] = /^tsk_\w+$/m.exec(retried) ?? [];
  assert.notEqual(anew, task);
  const third = person.start("attach", anew);
  await third.sees(/Your answer:\n>$/);
  third.types("south");
  assert.equal(await third.ended, 0);

  const account = await person.run(0, "show", "last");
  assert.match(account, new RegExp(`^✓ ${anew} +completed`));
  assert.match(account, /\nasked\n {2}helper\n {4}Find a garden\n/);
  assert.equal(times(flat(account), answer), 1, "the result stands there once");
  const list = await person.run(0, "tasks");
  assert.equal(times(list, "✓ tsk_"), 5);
  assert.match(list, /\n {4}helper: Find a garden\n/);
  for (const word of ["status", "doctor", "models", "runners"]) await person.run(0, word);
  assert.match(flat(await person.run(0, "down")), /stopped; unfinished tasks go on at the next start/);
}

describe("the first day", { skip: hasTerminals ? false : "there is no script(1) to make a terminal with" }, () => {
  for (const columns of [80, 40]) {
    test(`at ${columns} columns`, { timeout: 240_000 }, async (t) => {
      const person = personAt(t, columns);
      await firstRun(person, columns);
      await restOfTheDay(person);
      for (const { screen, text } of person.terminals) {
        assert.deepEqual(screen.broken, [], `every row fits:\n${text()}`);
        assert.deepEqual(screen.strange, [], `the terminal obeys nobody but us:\n${text()}`);
      }
    });
  }
});
