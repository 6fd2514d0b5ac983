// A real workspace for a tool, and a way to call a step tool without an agent loop.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

import { tempFolder } from "./temp-folder.ts";
import type { StepTool } from "../../src/agent/tools/tool.ts";
import { type ErrorCode, TuttiError } from "../../src/protocol/error.ts";

export interface Workspace {
  /** Holds the root and what lies outside of it. */
  readonly top: string;
  readonly root: string;
}

export function workspace(t: TestContext, files: Readonly<Record<string, string | Uint8Array>> = {}): Workspace {
  const top = tempFolder(t);
  const root = join(top, "root");
  mkdirSync(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return { top, root };
}

interface TryOptions {
  readonly signal?: AbortSignal;
  readonly note?: (value: unknown) => Promise<void>;
  readonly live?: (text: string) => void;
  readonly offLimits?: readonly string[];
}

export async function tryTool(
  tool: StepTool,
  input: unknown,
  roots: readonly string[],
  {
    signal = new AbortController().signal,
    note = async () => undefined,
    live = () => undefined,
    offLimits = [],
  }: TryOptions = {},
): Promise<unknown> {
  const ready = tool.prepare(input);
  assert.ok(ready.ok, JSON.stringify(ready));
  const step = {
    signal,
    // Processes are ended by this key: two tests at once must not have the same one.
    key: `task/1.1/${randomUUID()}`,
    noted: undefined,
    note,
    live: (_: string, text: string) => live(text),
    now: () => Date.now(),
  };
  return ready.run({ step, rights: { tools: "*", roots }, offLimits });
}

/** For `assert.rejects`: a TuttiError of this code, and of this message. */
export function failsWith(code: ErrorCode, message = /./s): (thrown: unknown) => boolean {
  return (thrown) => {
    assert.ok(thrown instanceof TuttiError, String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, message);
    return true;
  };
}
