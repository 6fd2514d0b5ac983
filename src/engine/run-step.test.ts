import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { z } from "zod";
import {
  again,
  anything,
  ask,
  codeOf,
  gate,
  killed,
  type Loops,
  never,
  seen,
  started,
  task,
  text,
  world,
} from "../../test/support/engine-kit.ts";
import { settle } from "../../test/support/settle.ts";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { within } from "../../test/support/wait-until.ts";
import { TuttiError } from "../protocol/error.ts";

const once = { repeatable: false, schema: text } as const;

test("invariant 1: a step whose outcome was recorded never runs again, and gives the same value after a restart", async (t) => {
  const ran: string[] = [];
  const hold = gate();
  const loops: Loops = {
    one: async (d) => {
      const value = await d.step("a", { repeatable: true, schema: z.object({ at: z.string() }) }, () => {
        ran.push("a");
        return { at: "first", extra: new Date(0) };
      });
      await d.step("b", again, async () => {
        ran.push("b");
        await hold.opened;
        return "b";
      });
      return value;
    },
  };
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  hold.open();
  const second = await killed(first, t, loops);
  assert.deepEqual(await second.engine.result(name), { content: { at: "first" }, task_id: name, status: "completed" });
  assert.deepEqual(ran, ["a", "b", "b"]);
});

test("invariant 1: a step that may not be repeated and was cut off is of unknown outcome, told and recorded, not run", async (t) => {
  let runs = 0;
  const told: unknown[] = [];
  const loops: Loops = {
    one: async (d) => {
      try {
        await d.step("pay", { ...once, input: 7 }, () => {
          runs += 1;
          return never;
        });
      } catch (thrown) {
        if (thrown instanceof TuttiError && thrown.code !== "stopped") told.push([thrown.code, thrown.retry]);
      }
      return d.step("then", again, () => never);
    },
  };
  const first = world(tempFolder(t), loops);
  await started(first, "one");
  await settle();
  const second = await killed(first, t, loops);
  await settle();
  const third = await killed(second, t, loops);
  await settle();
  assert.equal(runs, 1);
  const unknown = ["outcome_unknown", "unknown"];
  assert.deepEqual(told, [unknown, unknown]);
  assert.equal(third.store.failure, undefined);
});

test("invariant 1: the start of a step that may not be repeated is on disk before its body runs", async (t) => {
  const folder = tempFolder(t);
  let starts: unknown;
  const w = world(folder, {
    one: (d) =>
      d.step("pay", once, () => {
        starts = seen(folder, "SELECT key FROM step_starts").map((row) => row["key"]);
        return "paid";
      }),
  });
  t.after(() => w.stop());
  await w.engine.result(await started(w, "one"));
  assert.deepEqual(starts, ["pay"]);
});

test("a repeatable step runs again with the same idempotency key and is given what the first try noted", async (t) => {
  const tries: unknown[] = [];
  const loops: Loops = {
    one: (d) =>
      d.step("call", again, async (context) => {
        tries.push([context.key, context.noted]);
        if (tries.length > 1) return "done";
        await context.note({ pid: 7 });
        return never;
      }),
  };
  const notes: unknown[] = [];
  const first = world(tempFolder(t), loops);
  const name = await started(first, "one");
  await settle();
  const second = await killed(first, t, loops, { cleanUp: async (note) => void notes.push(note) });
  await second.engine.result(name);
  assert.deepEqual(tries, [
    [`${name}/1.1/call`, undefined],
    [`${name}/1.1/call`, { pid: 7 }],
  ]);
  assert.deepEqual(notes, [{ pid: 7 }]);
});

test("a failing step throws the same error live and after a restart", async (t) => {
  const told: unknown[] = [];
  const loops: Loops = {
    one: async (d) => {
      await d
        .step("fail", once, () => {
          throw new TuttiError("io", "the disk is gone", { details: { disk: 1 }, retry: "safe" });
        })
        .catch((thrown: TuttiError) => told.push([thrown.code, thrown.message, thrown.retry, thrown.details]));
      return d.step("wait", again, () => never);
    },
  };
  const first = world(tempFolder(t), loops);
  await started(first, "one");
  await settle();
  await killed(first, t, loops);
  await settle();
  assert.equal(told.length, 2);
  assert.deepEqual(told[0], told[1]);
  assert.deepEqual(told[0], ["step_failed", "the disk is gone", "safe", { disk: 1, code: "io" }]);
});

test("a value its schema refuses fails the step, and the body is not run again after a restart", async (t) => {
  let runs = 0;
  const codes: string[] = [];
  const loops: Loops = {
    one: async (d) => {
      codes.push(await codeOf(d.step("odd", { repeatable: true, schema: z.int() }, () => ((runs += 1), 1.5))));
      return d.step("wait", again, () => never);
    },
  };
  const first = world(tempFolder(t), loops);
  await started(first, "one");
  await settle();
  await killed(first, t, loops);
  await settle();
  assert.deepEqual([codes, runs], [["step_failed", "step_failed"], 1]);
});

test("the same key twice in one run is an error and leaves one row", async (t) => {
  const w = world(tempFolder(t), {
    one: async (d) => {
      await d.step("a", again, () => "1");
      return codeOf(d.step("a", again, () => "2"));
    },
  });
  t.after(() => w.stop());
  assert.equal((await w.engine.result(await started(w, "one"))).content, "conflict");
  assert.deepEqual(seen(w.folder, "SELECT COUNT(*) AS n FROM log WHERE key = 'a'")[0]?.["n"], 1);
});

test("a recorded step asked for with another input after a restart is an error, not a guess", async (t) => {
  const loops = (input: string): Loops => ({
    one: async (d) => {
      const said = await d.step("a", { ...again, input }, () => "1");
      await d.sleep("long", 10_000);
      return said;
    },
  });
  await failsWithOtherInput(t, loops);
});

test("a step that was cut off and is asked for with another input after a restart is an error too", async (t) => {
  let runs = 0;
  for (const step of [once, again]) {
    await failsWithOtherInput(t, (input) => ({
      one: (d) =>
        d.step("a", { ...step, input }, async (context) => {
          runs += 1;
          await context.note("begun");
          return never;
        }),
    }));
  }
  assert.equal(runs, 2, "neither body runs with the other input");
});

async function failsWithOtherInput(t: TestContext, loops: (input: string) => Loops): Promise<void> {
  const first = world(tempFolder(t), loops("old"));
  const name = await started(first, "one");
  await settle();
  const second = await killed(first, t, loops("new"));
  const result = await within(() => second.engine.result(name), "the result");
  assert.equal(result.status, "failed");
  assert.equal(z.object({ code: z.string() }).parse(result.content).code, "conflict");
}

test("output commit: what is queued is not seen outside, and nothing that is told outside is only queued", async (t) => {
  const folder = tempFolder(t);
  const count = (): unknown => seen(folder, "SELECT COUNT(*) AS n FROM log WHERE kind = 0")[0]?.["n"];
  const atStep: unknown[] = [];
  const w = world(folder, {
    one: async (d) => {
      await d.step("a", again, () => "a");
      atStep.push(count());
      await d.step("b", once, () => "b");
      atStep.push(count());
      await d.spawn("kids", [task("child")]);
      atStep.push(seen(folder, "SELECT COUNT(*) AS n FROM tasks")[0]?.["n"]);
      const wait = await d.open("w", { ask, schema: anything });
      atStep.push(seen(folder, "SELECT COUNT(*) AS n FROM waits")[0]?.["n"]);
      await d.withdraw("x", wait);
      return "end";
    },
    child: async () => "c",
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  assert.equal(seen(folder, "SELECT COUNT(*) AS n FROM tasks")[0]?.["n"], 1, "start resolves after its commit");
  await w.engine.result(name);
  assert.equal(seen(folder, `SELECT COUNT(*) AS n FROM results`)[0]?.["n"], 2, "so does a result");
  // a is queued when its step returns; the claim of b takes it to disk; b itself is queued again.
  assert.deepEqual(atStep, [0, 1, 2, 1]);
});

test("a step that takes longer than its limit fails, its signal is aborted, and its outcome may have happened", async (t) => {
  let reason: unknown;
  const w = world(tempFolder(t), {
    one: async (d) => {
      const body = (context: { signal: AbortSignal }): Promise<never> => {
        context.signal.addEventListener("abort", () => (reason = context.signal.reason));
        return never;
      };
      return d.step("slow", { ...once, timeout: 100 }, body).catch((thrown: TuttiError) => [thrown.code, thrown.retry]);
    },
  });
  t.after(() => w.stop());
  const name = await started(w, "one");
  await settle();
  w.clock.advance(100);
  assert.deepEqual((await w.engine.result(name)).content, ["step_failed", "unknown"]);
  assert.ok(reason instanceof TuttiError && reason.code === "deadline");
});

test("a step reads the time from the engine's clock, and a restart returns the time it recorded", async (t) => {
  const hold = gate();
  const loops: Loops = {
    one: async (d) => {
      const at = await d.step("when", { repeatable: true, schema: z.number() }, (step) => step.now());
      await d.step("hold", again, async () => {
        await hold.opened;
        return "held";
      });
      return at;
    },
  };
  const first = world(tempFolder(t), loops);
  const began = first.clock.now();
  const name = await started(first, "one");
  await settle();
  first.clock.advance(60_000);
  hold.open();
  const second = await killed(first, t, loops);
  assert.equal((await second.engine.result(name)).content, began);
});
