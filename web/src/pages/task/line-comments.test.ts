import assert from "node:assert/strict";
import { test } from "node:test";

import type { PatchLine } from "../../text/read-patch.ts";
import { commentsMessage, placeOf } from "./line-comments.ts";

const added: PatchLine = { mark: "+", text: "sum += price;", old: null, fresh: 4 };
const removed: PatchLine = { mark: "-", text: "sum = 0;", old: 4, fresh: null };

test("a removed and an added line of the same number are different places", () => {
  assert.notEqual(placeOf("a.js", added), placeOf("a.js", removed));
});

test("all comments become one message, each with its place and its line", () => {
  const message = commentsMessage([
    { place: "1", path: "a.js", line: added, text: " Times the quantity. " },
    { place: "2", path: "a.js", line: removed, text: "Keep this." },
  ]);
  assert.equal(
    message,
    "2 comments on your changes:\n\na.js, line 4:\n> +sum += price;\nTimes the quantity.\n\n" +
      "a.js, line 4 before the change:\n> -sum = 0;\nKeep this.",
  );
});
