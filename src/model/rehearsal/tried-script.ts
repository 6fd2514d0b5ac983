// The script that plays a model when `tutti models test` is rehearsed: it shows what the test prints and calls no model.

import type { RehearsalScript } from "../../protocol/invocation/rehearsal-script.ts";

const numbers = Array.from({ length: 400 }, (_, at) => String(at + 1)).join(" ");

export const triedScript: RehearsalScript = {
  rules: [
    { last: "the single word", say: "ready" },
    { last: "Call the tool", call: [{ tool: "add", args: { a: 17, b: 25 } }] },
    { last: "1742", say: "It returned 1742." },
    { last: "whole numbers", say: numbers },
    { last: "Which colour", say: "Red" },
    { say: "It costs 0.05." },
  ],
};
