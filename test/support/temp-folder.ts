// A folder of a test's own, removed when the test ends.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A test, a file of tests (its `after`), or whoever cleans up in place of one. */
export interface Cleanup {
  after(fn: () => unknown): void;
}

/** Its path has no symbolic links in it, so that tests can compare it with paths a program resolved. */
export function tempFolder(t: Cleanup, prefix = "tutti-"): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
