import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { failsWith, workspace } from "../../../test/support/try-tool.ts";
import type { Tool } from "../../agent/tools/tool.ts";
import { readConfigFiles } from "./config-files.ts";
import { loadConfig } from "./project-config.ts";
import { buildEnvironment } from "./build-environment.ts";

const header = `import { z } from ${JSON.stringify(import.meta.resolve("zod"))};
const tool = { name: "shout", description: "Shouts.", effects: ["read"], input: z.object({}), run: () => "HI" };\n`;

async function toolsOf(project: string, state: string): Promise<readonly Tool[]> {
  const loaded = await loadConfig(readConfigFiles(project));
  loaded.process?.close();
  return (await buildEnvironment(loaded, { state })).tools ?? [];
}

test("a project's own tools are offered beside the built-in ones", async (t) => {
  const { root, top } = workspace(t);
  writeFileSync(join(root, "tutti.config.ts"), `${header}export const tools = [tool];`);
  const names = (await toolsOf(root, top)).map((tool) => tool.name);
  for (const name of ["read", "write", "edit", "list", "search", "run", "read_result", "shout"]) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(new Set(names).size, names.length);
});

test("every tool has the effects by which its calls are approved", async (t) => {
  const { root, top } = workspace(t);
  writeFileSync(join(root, "tutti.config.ts"), `${header}export const tools = [{ ...tool, effects: ["network"] }];`);
  const effects = Object.fromEntries((await toolsOf(root, top)).map((tool) => [tool.name, tool.effects]));
  assert.partialDeepStrictEqual(effects, {
    read: ["read"],
    list: ["read"],
    search: ["read"],
    read_result: ["read"],
    write: ["write"],
    edit: ["write"],
    run: ["execute", "network"],
    shout: ["network"],
  });
});

test("a tool that cannot be used is reported with its name and file", async (t) => {
  const { root, top } = workspace(t);
  writeFileSync(
    join(root, "tutti.config.mjs"),
    `${header}export const tools = [{ ...tool, name: "run" }, { ...tool, run: 1 }];`,
  );
  const opening = toolsOf(root, top);
  const message =
    /tutti\.config\.mjs: the tool run: there is a tool of that name already.*the tool shout: run: must be a function/s;
  await assert.rejects(opening, failsWith("invalid_input", message));
});
