import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { personsThings, testRepository } from "../../../test/support/git-kit.ts";
import {
  answerNext,
  ledgerIgnored,
  savedIn,
  sessionPlace,
  type SessionPlace,
  skip,
} from "../../../test/support/session-place.ts";

interface Started {
  readonly task: string;
  readonly branch: string;
}

interface Works extends SessionPlace {
  /** Runs a session that writes one file. */
  readonly work: (file: string, text: string) => Promise<Started>;
  /** Starts a session that builds on others. */
  readonly after: (tasks: readonly string[], actions: readonly unknown[], more?: object) => Promise<string>;
}

async function works(t: TestContext): Promise<Works> {
  const place = await sessionPlace(t, { repository: testRepository(t, { "a.txt": "a\n", ...ledgerIgnored }) });
  const { world, task } = place;
  return {
    ...place,
    async work(file, text) {
      const id = await world.start([{ shell: `echo ${text} > ${file}` }, { say: "done" }], task);
      assert.equal((await world.engine.result(id)).status, "completed");
      return { task: id, branch: (await savedIn(world)).at(-1)?.branch ?? "" };
    },
    after: (tasks, actions, more = {}) =>
      world.start(actions, {
        ...task,
        runner: { kind: "acp", config: { profile: "scripted", workspace: { after: tasks, ...more } } },
      }),
  };
}

test("a task begins with the branches of the tasks that it builds on, merged in order", { skip }, async (t) => {
  const { world, repository, work, after } = await works(t);
  const [one, two] = [await work("one.txt", "one"), await work("two.txt", "two")];
  const before = personsThings(repository);
  const id = await after([one.task, two.task], [{ shell: "cat one.txt two.txt > both.txt" }, { say: "done" }]);
  assert.equal((await world.engine.result(id)).status, "completed");
  const saved = (await savedIn(world)).at(-1);
  assert.equal(repository.git("show", `${saved?.branch ?? ""}:both.txt`), "one\ntwo");
  assert.equal(saved?.files, 1, "the work of the others is where it begins, not its own");
  assert.deepEqual(personsThings(repository), before);
});

test("about a conflict a person decides, who is told the files", { skip }, async (t) => {
  const { world, repository, work, after } = await works(t);
  const [one, clash, two] = [await work("a.txt", "one"), await work("a.txt", "clash"), await work("two.txt", "two")];
  const tasks = [one.task, clash.task, two.task];
  const show = async (file: string): Promise<string> =>
    repository.git("show", `${(await savedIn(world)).at(-1)?.branch ?? ""}:${file}`);

  const without = await after(tasks, [{ shell: "cat a.txt two.txt > seen.txt" }, { say: "done" }]);
  const question = await answerNext(world, { kind: "question", value: "leave this branch out" });
  assert.match(question, new RegExp(`builds on ${clash.branch}, which conflicts with ${one.branch} in a\\.txt`));
  assert.equal((await world.engine.result(without)).status, "completed");
  assert.equal(await show("seen.txt"), "one\ntwo");
  assert.match((await savedIn(world)).at(-1)?.warnings.join(" ") ?? "", /begins without .* conflicts in a\.txt/);

  const stopped = await after(tasks, [{ say: "done" }]);
  await answerNext(world, { kind: "question", value: "stop" });
  const result = await world.engine.result(stopped);
  assert.equal(result.status, "failed");
  assert.match(JSON.stringify(result.content), /was not begun: .* conflicts in a\.txt/);
});

test("a session can be told to resolve a conflict itself, without a question", { skip }, async (t) => {
  const { world, repository, work, after } = await works(t);
  const [one, clash] = [await work("a.txt", "one"), await work("a.txt", "clash")];
  const commit = repository.git("rev-parse", clash.branch);
  const merge = `git -c user.name=S -c user.email=s@example.com merge -q -X theirs ${commit}`;
  const id = await after([one.task, clash.task], [{ shell: `cp prompts told.txt; ${merge}` }, { say: "done" }], {
    on_conflict: "resolve",
  });
  assert.equal((await world.engine.result(id)).status, "completed");
  const branch = (await savedIn(world)).at(-1)?.branch ?? "";
  assert.match(repository.git("show", `${branch}:told.txt`), new RegExp(`git merge ${commit} {3}# ${clash.branch}`));
  assert.equal(repository.git("show", `${branch}:a.txt`), "clash");
  assert.equal(repository.git("merge-base", "--is-ancestor", commit, branch), "");
});
