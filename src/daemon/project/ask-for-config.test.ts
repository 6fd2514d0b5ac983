import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { type Loop, openWaits, person, started, type World, world } from "../../../test/support/engine-kit.ts";
import { settle } from "../../../test/support/settle.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";
import { TuttiError } from "../../protocol/error.ts";
import { askForConfig } from "./ask-for-config.ts";

interface Config {
  problem: string | undefined;
  loads: number;
  readonly questions: string[];
}

const configWith = (problem: string | undefined): Config => ({ problem, loads: 0, questions: [] });

/** A world whose agent `needs config` loads the config, and returns how often it was loaded. */
function worldWith(t: TestContext, config: Config): World {
  const load = async (): Promise<number> => {
    config.loads += 1;
    if (config.problem !== undefined) throw new TuttiError("invalid_input", config.problem);
    return config.loads;
  };
  const loop: Loop = (durable) =>
    askForConfig(
      {
        wait(key, options) {
          config.questions.push(options.ask?.question ?? "");
          return durable.wait(key, options);
        },
      },
      load,
    );
  const made = world(tempFolder(t), { "needs config": loop });
  t.after(() => made.stop());
  return made;
}

async function answer(made: World, approved: boolean): Promise<void> {
  const [ask = ""] = openWaits(made);
  const { outcome } = await made.engine.deliver(ask, { kind: "approval", approved }, person);
  assert.equal(outcome, "accepted");
}

test("a config that loads is used without a question", async (t) => {
  const config = configWith(undefined);
  const made = worldWith(t, config);
  const { content } = await made.engine.result(await started(made, "needs config"));
  assert.deepEqual([content, config.questions], [1, []]);
});

test("a broken config is asked about until it loads, and the question says what is wrong", async (t) => {
  const config = configWith("models: is missing");
  const made = worldWith(t, config);
  const task = await started(made, "needs config");
  await settle();
  assert.match(config.questions[0] ?? "", /cannot be used: models: is missing\. Correct it and approve/);
  await answer(made, true);
  await settle();
  assert.equal(openWaits(made).length, 1, "approved too early, it is asked again");
  config.problem = undefined;
  await answer(made, true);
  assert.equal((await made.engine.result(task)).content, 3);
});

test("the task fails with the problem of the config when the answer is no", async (t) => {
  const made = worldWith(t, configWith("models: is missing"));
  const task = await started(made, "needs config");
  await settle();
  await answer(made, false);
  const { status, content } = await made.engine.result(task);
  assert.deepEqual(
    [status, content],
    ["failed", { code: "invalid_input", message: "models: is missing", retry: "never" }],
  );
});
