import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { checkVerbCall, isVerb, needsPerson, renderVerbs, verbCatalogue } from "./verb-catalogue.ts";

const names = Object.keys(verbCatalogue).filter(isVerb);

describe("the verbs of a conversation", () => {
  test("every verb and every argument is in the prompt", () => {
    const prompt = renderVerbs();
    for (const name of names) {
      assert.ok(prompt.includes(`\`${name}\``), name);
      for (const argument of Object.keys(verbCatalogue[name].args.shape)) {
        assert.ok(prompt.includes(`\`${argument}\``), argument);
      }
    }
  });

  test("the error for an unknown verb lists those that exist", () => {
    const check = checkVerbCall("sessions.launch", {});
    assert.ok(!check.ok);
    for (const name of names) assert.ok(check.message.includes(name), name);
  });

  test("verbs of other session managers are refused by name, with what takes their place", () => {
    const said = (name: string): string => {
      const check = checkVerbCall(name, {});
      return check.ok ? "" : check.message;
    };
    assert.match(
      said("sessions.adopt"),
      /^Tutti takes over no session that it did not start.*there is no verb "sessions\.adopt"/,
    );
    assert.match(said("sessions.launch"), /^`goals\.start` does that/);
    assert.match(said("sessions.get"), /^`tasks\.get` does that/);
    assert.match(said("sessions.decommission"), /^`sessions\.kill` does that/);
  });

  test("words are injected with enter or as an interruption, and in no other way", () => {
    const inject = (submit?: string) => checkVerbCall("sessions.inject", { task: "tsk_1", text: "x", submit });
    assert.deepEqual([inject("enter").ok, inject("interrupt").ok, inject("no_submit").ok], [true, true, false]);
    assert.ok(checkVerbCall("sessions.health", {}).ok);
  });

  test("a missing argument, a blank one and one that is not known are named, each in its own words", () => {
    const said = (verb: string, args: Record<string, unknown>): string => {
      const check = checkVerbCall(verb, args);
      return check.ok ? "" : check.message;
    };
    assert.match(said("sessions.send", { text: "hello" }), /the argument `task` is missing/);
    assert.match(said("sessions.send", { task: "tsk_1", text: " " }), /the argument `text` must not be blank/);
    assert.match(said("sessions.observe", { task: "7" }), /the argument `task` must be an id that begins with tsk_/);
    assert.match(said("goals.list", { colour: "red" }), /colour/);
  });

  test("arguments that fit are passed on", () => {
    const args = { task: "tsk_1", text: "hello", interrupt: true };
    assert.deepEqual(checkVerbCall("sessions.send", args), { ok: true, call: { verb: "sessions.send", args } });
    assert.deepEqual(checkVerbCall("goals.list", { status: null }), {
      ok: true,
      call: { verb: "goals.list", args: {} },
    });
  });

  test("only looking is free when the turn holds a session's output (invariant 14)", () => {
    for (const name of names) assert.equal(needsPerson(name, true), verbCatalogue[name].effect !== "look", name);
  });

  test("nothing is killed, canceled or merged without a person's yes", () => {
    const asked = names.filter((name) => needsPerson(name, false));
    assert.deepEqual(asked, ["sessions.kill", "tasks.cancel", "workspaces.merge"]);
  });
});
