import assert from "node:assert/strict";
import { test } from "node:test";

import { baseTree } from "./base-tree.ts";
import { withMovedImports } from "./moved-imports.ts";

const moved = new Map([
  ["src/total.js", "src/sums/total.js"],
  ["shop/total.py", "shop/sums/total.py"],
]);

test("only the path of a module that moved is changed in a test of the base", () => {
  const texts = {
    "src/total.js": "",
    "src/tax.js": "",
    "shop/total.py": "",
    "test/a.test.js":
      'import { total } from "../src/total.js";\nimport "../src/tax.js";\nconst late = await import("../src/total");\n',
    "tests/test_a.py": "from shop.total import total\nimport shop.total\nfrom shop.totals import x\n",
  };
  const tree = baseTree(Object.keys(texts), new Map(Object.entries(texts)));
  assert.equal(
    withMovedImports(tree, "test/a.test.js", moved),
    'import { total } from "../src/sums/total.js";\nimport "../src/tax.js";\nconst late = await import("../src/sums/total");\n',
  );
  assert.equal(
    withMovedImports(tree, "tests/test_a.py", moved),
    "from shop.sums.total import total\nimport shop.sums.total\nfrom shop.totals import x\n",
  );
  assert.equal(withMovedImports(tree, "src/tax.js", moved), undefined);
});
