// A task as the store's tests write it: a root that runs a loop, where nothing but its place matters.

import type { Store } from "../../src/store/store.ts";

export const taskRow: Parameters<Store["addTask"]>[0] = {
  parent: null,
  root: null,
  depth: 0,
  kind: "loop",
  agent: "a",
  detached: false,
  created_at: 1,
  deadline: null,
  shared: null,
  body: "{}",
};
