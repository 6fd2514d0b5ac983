import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../test/support/properties.ts";

import { mayUse, narrow, type Rights } from "./rights.ts";

const rights: fc.Arbitrary<Rights> = fc.record({
  tools: fc.oneof(fc.constant("*" as const), fc.subarray(["read", "write", "shell", "ask"])),
  roots: fc.subarray(["/proj", "/proj/a", "/proj/a/b", "/proj/ab", "/tmp", "/"]),
});

const covers = (roots: readonly string[], folder: string): boolean =>
  roots.some((root) => folder === root || root === "/" || folder.startsWith(`${root}/`));

test("invariant 6: what is granted is never more than the parent has, down any chain of children", () => {
  fc.assert(
    fc.property(rights, fc.array(rights, { maxLength: 5 }), (root, wanted) => {
      let parent = root;
      for (const want of wanted) {
        const narrowed = narrow(parent, want);
        if (!narrowed.ok) continue;
        for (const tool of ["read", "write", "shell", "ask", "other"]) {
          if (mayUse(narrowed.rights, tool)) assert.ok(mayUse(parent, tool) && mayUse(root, tool), tool);
        }
        for (const folder of narrowed.rights.roots)
          assert.ok(covers(parent.roots, folder) && covers(root.roots, folder), folder);
        parent = narrowed.rights;
      }
    }),
    { numRuns: 300 },
  );
});

test("invariant 6: what goes beyond is refused by name, not cut down", () => {
  const parent: Rights = { tools: ["read"], roots: ["/proj"] };
  const tool = narrow(parent, { tools: ["read", "shell"], roots: [] });
  assert.ok(!tool.ok && tool.message.includes("shell") && !tool.message.includes("read,"));
  const folder = narrow(parent, { tools: [], roots: ["/proj/x", "/projshop"] });
  assert.ok(!folder.ok && folder.message.includes("/projshop") && !folder.message.includes("/proj/x"));
});

test("a path that climbs out of a root is outside of it", () => {
  const parent: Rights = { tools: "*", roots: ["/proj"] };
  assert.equal(narrow(parent, { tools: "*", roots: ["/proj/../etc"] }).ok, false);
  assert.equal(narrow(parent, { tools: "*", roots: ["/proj/..hidden"] }).ok, true);
});

test("every tool means every tool of the parent, and no more", () => {
  const narrowed = narrow({ tools: ["read"], roots: [] }, { tools: "*", roots: [] });
  assert.deepEqual(narrowed, { ok: true, rights: { tools: ["read"], roots: [] } });
});
