import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";

import { tempFolder } from "../../test/support/temp-folder.ts";
import { TuttiError } from "../protocol/error.ts";
import { readText } from "./input.ts";

const folder = tempFolder({ after });

function fileWith(content: string | Uint8Array): string {
  const path = join(folder, "input");
  writeFileSync(path, content);
  return path;
}
const fails = (code: string, message: RegExp) => (thrown: unknown) =>
  thrown instanceof TuttiError && thrown.code === code && message.test(thrown.message);

test("a file is read as text, up to the limit and including it", async () => {
  assert.equal(await readText(fileWith("grün"), 5), "grün");
  await assert.rejects(
    readText(fileWith("grün!"), 5),
    fails("too_large", /over the limit of 5 bytes; raise it with --limit/),
  );
});

test("bytes that are not UTF-8 are refused", async () => {
  await assert.rejects(readText(fileWith(Buffer.from([0x61, 0xff])), 100), fails("invalid_input", /is not UTF-8 text/));
});

test("a missing file and a folder each give their own error", async () => {
  await assert.rejects(readText(join(folder, "nowhere"), 100), fails("not_found", /there is no file .*nowhere/));
  await assert.rejects(readText(folder, 100), fails("invalid_input", /is a folder; name a file/));
});
