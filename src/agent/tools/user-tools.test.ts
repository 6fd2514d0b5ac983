import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { z } from "zod";

import { failsWith, tryTool, workspace } from "../../../test/support/try-tool.ts";
import { defineTool, type StandardSchema } from "./define-tool.ts";
import { readUserTools } from "./user-tools.ts";

const file = "/p/tutti.config.ts";
const weather = defineTool({
  name: "weather",
  description: "Tells the weather.",
  input: z.object({ city: z.string().min(2) }),
  effects: ["network"],
  run: ({ city }) => ({ city: city.toUpperCase(), degrees: 20 }),
});

function only(definition: unknown) {
  const read = readUserTools([definition], { file, taken: [] });
  assert.ok(read.ok, JSON.stringify(read));
  const [tool] = read.tools;
  assert.ok(tool !== undefined);
  return tool;
}

/** A schema of a library that is not zod. */
function schema<T>(check: StandardSchema<T>["~standard"]["validate"]): StandardSchema<T> {
  return { "~standard": { version: 1, vendor: "own", validate: check } };
}

test("a tool with a zod schema is shown to the model with its JSON Schema, and runs with the read input", async () => {
  const tool = only(weather);
  assert.deepEqual(tool.declaration, {
    name: "weather",
    description: "Tells the weather.",
    parameters: { type: "object", properties: { city: { type: "string", minLength: 2 } }, required: ["city"] },
  });
  assert.deepEqual([tool.effects, tool.repeatable], [["network"], false]);
  assert.deepEqual(await tryTool(tool, { city: "Brno" }, []), { city: "BRNO", degrees: 20 });
  const ready = tool.prepare({ city: "B" });
  assert.ok(!ready.ok && ready.issues[0]?.path === "city");
  const good = tool.prepare({ city: "Brno" });
  assert.deepEqual(good.ok && good.effect, { effects: ["network"], confined: false });
});

test("any library will do: its checks may take time, and its JSON Schema may be given", async () => {
  const parameters = { type: "object", properties: {} };
  const input = schema(async (value) =>
    value === "bad" ? { issues: [{ message: "no", path: [{ key: "a" }, 0] }] } : { value: 7 },
  );
  const tool = only({ ...weather, input, parameters, run: (value: unknown) => value });
  assert.deepEqual(tool.declaration.parameters, parameters);
  assert.equal(await tryTool(tool, {}, []), 7);
  await assert.rejects(tryTool(tool, "bad", []), failsWith("invalid_input", /a\.0: no/));
  const broken = only({
    ...weather,
    parameters,
    input: schema(() => {
      throw new Error("boom");
    }),
  });
  const ready = broken.prepare({});
  assert.ok(!ready.ok && ready.issues[0]?.message.includes("boom"));
});

test("what is wrong is said by file and tool, all of it at once, and then there is none", () => {
  const { description: _, ...undescribed } = weather;
  const read = readUserTools(
    [
      weather,
      weather,
      { ...weather, name: "run" },
      undescribed,
      { ...weather, name: "no spaces" },
      { ...weather, name: "plain", input: { type: "object" } },
      { ...weather, name: "told", input: schema((value) => ({ value })) },
      { ...weather, name: "text", input: z.string() },
      { ...weather, name: "date", input: z.object({ at: z.date() }) },
      { ...weather, name: "still", effects: [] },
      { ...weather, name: "extra", efects: [] },
      null,
    ],
    { file, taken: ["run"] },
  );
  assert.ok(!read.ok);
  const at = (index: number, pattern: RegExp): void => assert.match(read.issues[index] ?? "", pattern);
  at(0, /^\/p\/tutti.config.ts: the tool weather: there is a tool of that name already/);
  at(1, /the tool run: there is a tool of that name already/);
  at(2, /the tool weather: description:/);
  at(3, /the tool no spaces: name: must be a plain name/);
  at(4, /the tool plain: input: must be a Standard Schema/);
  at(5, /the tool told: input: this library cannot write its schema/);
  at(6, /the tool text: input: it must be an object/);
  at(7, /the tool date: input: it cannot be written as JSON Schema/);
  at(8, /the tool still: effects: must name/);
  at(9, /the tool extra: .*efects/);
  at(10, /tools\[11\]/);
  assert.equal(read.issues.length, 11);
});

test("a tool that throws, takes too long or returns what is not JSON is told, and gives up at a cancel", async () => {
  const tool = (run: (input: unknown, context: { signal: AbortSignal }) => unknown) =>
    only({ ...weather, timeout_ms: 50, run });
  const call = (run: Parameters<typeof tool>[0]): Promise<unknown> => tryTool(tool(run), { city: "Brno" }, []);
  await assert.rejects(
    call(() => {
      throw new RangeError("off the scale");
    }),
    failsWith("step_failed", /weather failed: off the scale/),
  );
  await assert.rejects(
    call(async () => Promise.reject(new Error("later"))),
    failsWith("step_failed", /later/),
  );
  await assert.rejects(
    call(() => 1n),
    failsWith("step_failed", /BigInt/),
  );
  let told: AbortSignal | undefined;
  const slow = call((_, { signal }) => {
    told = signal;
    return new Promise(() => undefined);
  });
  await assert.rejects(slow, failsWith("deadline", /longer than its 50 ms/));
  assert.equal(told?.aborted, true);
  assert.equal(await call(() => undefined), null);
});

test("a tool is given a key, the folders and a way to show its progress", async () => {
  const shown: string[] = [];
  const tool = only({
    ...weather,
    run: (_: unknown, { key, roots, progress }: { key: string; roots: string[]; progress: (text: string) => void }) => {
      progress("half");
      return { key, roots };
    },
  });
  const outcome = await tryTool(tool, { city: "Brno" }, ["/w"], { live: (text) => shown.push(text) });
  assert.partialDeepStrictEqual(outcome, { roots: ["/w"] });
  assert.match(JSON.stringify(outcome), /"key":"task\/1\.1\/[0-9a-f-]{36}"/);
  assert.deepEqual(shown, ["half"]);
});

test("a config file in TypeScript brings its tools", async (t) => {
  const { root } = workspace(t);
  const source = `import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
    import { defineTool } from ${JSON.stringify(import.meta.resolve("./define-tool.ts"))};
    export const tools = [defineTool({ name: "shout", description: "Shouts.", effects: ["read"], repeatable: true,
      input: z.strictObject({ text: z.string() }), run: ({ text }: { text: string }): string => text.toUpperCase() })];`;
  writeFileSync(join(root, "tutti.config.ts"), source);
  const loaded: { tools: unknown[] } = await import(pathToFileURL(join(root, "tutti.config.ts")).href);
  const read = readUserTools(loaded.tools, { file, taken: [] });
  assert.ok(read.ok && read.tools[0] !== undefined);
  assert.equal(await tryTool(read.tools[0], { text: "hi" }, []), "HI");
});
