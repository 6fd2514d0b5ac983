import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { checkKit, skipUnconfined as skip } from "../../test/support/check-kit.ts";
import { testRepository } from "../../test/support/git-kit.ts";
import type { StartedCheck } from "../protocol/task/started-check.ts";

const broken = "export const total = (list) => list.length;\n";
const right = "export const total = (list) => list.reduce((sum, one) => sum + one, 0);\n";
const brokenPy = "def total(numbers):\n    return len(numbers)\n";
const rightPy = "def total(numbers):\n    return sum(numbers)\n";

interface Tried {
  readonly check: string;
  readonly base: Readonly<Record<string, string>>;
  readonly work: Readonly<Record<string, string>>;
}

async function canaryOf(t: TestContext, { check, base, work }: Tried): Promise<unknown> {
  const repository = testRepository(t, base);
  const kit = checkKit(t, repository);
  repository.commit(work);
  const [fact] = await kit.check([check]);
  assert.deepEqual([fact?.outcome, fact?.on_base], ["passed", "failed"], fact?.output_tail);
  return fact?.canary;
}

const loop = {
  check: "node --test",
  base: {
    "package.json": '{"type":"module"}',
    "total.js": broken,
    "total.test.js":
      'import assert from "node:assert";\nimport { test } from "node:test";\nimport { total } from "./total.js";\ntest("adds", () => { for (const [list, sum] of [[[2, 3], 5]]) assert.equal(total(list), sum); });\n',
  },
};
const exits = {
  check: "node check.js",
  base: {
    "package.json": '{"type":"module"}',
    "total.js": broken,
    "check.js": 'import { total } from "./total.js";\nif (total([2, 3]) !== 5) process.exit(1);\n',
  },
};
const python = {
  check: "python3 check.py",
  base: {
    "total.py": brokenPy,
    "check.py": "import sys\nfrom total import total\nif total([2, 3]) != 5:\n    sys.exit(1)\n",
  },
};

test(
  "a test that goes through a list is spoken for where the work makes every list look empty",
  { skip },
  async (t) => {
    const emptied = `${broken}Array.prototype[Symbol.iterator] = function* () {};\n`;
    assert.equal(await canaryOf(t, { ...loop, work: { "total.js": emptied } }), "spoken_for");
    assert.equal(await canaryOf(t, { ...loop, work: { "total.js": right } }), "held");
  },
);

test("a script that fails by ending itself is spoken for where the work keeps it from that", { skip }, async (t) => {
  const kept = `${broken}process.exit = () => {};\n`;
  assert.equal(await canaryOf(t, { ...exits, work: { "total.js": kept } }), "spoken_for");
  assert.equal(await canaryOf(t, { ...exits, work: { "total.js": right } }), "held");
  const keptPy = `import sys\nsys.exit = lambda *_: None\n${brokenPy}`;
  assert.equal(await canaryOf(t, { ...python, work: { "total.py": keptPy } }), "spoken_for");
  assert.equal(await canaryOf(t, { ...python, work: { "total.py": rightPy } }), "held");
});

test(
  "the canaries of a check hold for one that names only some of its files, whichever was named first",
  { skip },
  async (t) => {
    const repository = testRepository(t, loop.base);
    const kit = checkKit(t, repository);
    repository.commit({ "total.js": right });
    const tried: string[] = [];
    const onStart = ({ on, argv }: StartedCheck): void => void (on === "canary" && tried.push(argv.join("·")));
    const facts = await kit.check(["node --test total.test.js", "node --test"], { onStart });
    assert.deepEqual(
      [facts.map(({ argv, canary }) => [argv.length, canary]), tried],
      [
        [
          [3, "held"],
          [2, "held"],
        ],
        ["node·--test"],
      ],
    );
  },
);
