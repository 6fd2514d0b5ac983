// An agent that may only write files tries to get code run, or rules freed, through the project's config.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { daemonFor } from "../e2e/daemon-process.ts";
import { answerAsks, isAboutTrust } from "../support/answer-asks.ts";
import { scriptedAgent } from "../support/scripted-agent.ts";
import { trustProject } from "../support/trusted-project.ts";

async function scene(t: TestContext) {
  const daemon = await daemonFor(t);
  const project = join(daemon.folder, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  const marker = join(daemon.folder, "ran");
  const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, "yes"); export default {};`;
  return { daemon, client: daemon.client(), project, marker, code };
}

const write = (path: string, content: string) => ({ tool: "write", args: { path, content } });

test("a config that an agent writes is not executed by the next task of the tree, nor by the next tree", async (t) => {
  const { client, project, marker, code } = await scene(t);
  const calls = [write("tutti.config.mjs", code), { tool: "invoke_agent", args: { agent: "helper", prompt: "Help." } }];
  const first = await client.invoke(scriptedAgent(calls), { folder: project });
  const { result, asked } = await answerAsks(client, first.task, (ask) => !isAboutTrust(ask));
  assert.equal(result.status, "completed", JSON.stringify(result));
  assert.equal(readFileSync(join(project, "tutti.config.mjs"), "utf8"), code);
  assert.ok(!asked.some(isAboutTrust), "a tree keeps what it began with");
  assert.ok(!existsSync(marker));

  const second = await client.invoke(scriptedAgent([]), { folder: project });
  const next = await answerAsks(client, second.task, () => false);
  assert.equal(next.result.status, "failed");
  assert.match(JSON.stringify(next.result.content), /"refused".*tutti trust/);
  const [ask] = next.asked;
  assert.ok(ask !== undefined && isAboutTrust(ask));
  assert.match(ask.question, new RegExp(`${project} was never trusted: tutti\\.config\\.mjs \\(sha256 `));
  assert.partialDeepStrictEqual(ask.details, { project, files: ["tutti.config.mjs"] });
  assert.ok(!existsSync(marker));
});

test("after a restart the tree does not take up a config that was written meanwhile without asking", async (t) => {
  const { daemon, client, project, marker, code } = await scene(t);
  await client.pause();
  const { task } = await client.invoke(scriptedAgent([]), { folder: project });
  writeFileSync(join(project, "tutti.config.mjs"), code);
  await daemon.restartKilled();
  const again = daemon.client();
  await again.resume();
  const { result, asked } = await answerAsks(again, task, () => false);
  assert.equal(result.status, "failed");
  assert.ok(asked.every(isAboutTrust) && asked.length === 1);
  assert.ok(!existsSync(marker));
});

test("a JSON config that an agent writes frees no call", async (t) => {
  const { client, project, marker } = await scene(t);
  const rules = { read: "free", write: "free", execute: "free", network: "free", tools: { run: "free" } };
  const freeing = await client.invoke(
    scriptedAgent([write("tutti.config.json", JSON.stringify({ approvals: rules }))]),
    {
      folder: project,
    },
  );
  await answerAsks(client, freeing.task, (ask) => !isAboutTrust(ask));
  const using = scriptedAgent([{ tool: "run", args: { argv: ["touch", marker], network: true } }]);
  const { task } = await client.invoke(using, { folder: project });
  const { result, asked } = await answerAsks(client, task, () => false);
  assert.equal(result.status, "failed");
  assert.ok(asked.length === 1 && asked.every(isAboutTrust));
  assert.partialDeepStrictEqual(asked[0]?.details, { sets: { approvals: rules } });
  assert.ok(!existsSync(marker));
});

test("a file that a trusted config imports is not executed after an agent has changed it", async (t) => {
  const { daemon, client, project, marker, code } = await scene(t);
  writeFileSync(join(project, "tutti.config.mjs"), 'import "./lib.mjs"; export default {};');
  writeFileSync(join(project, "lib.mjs"), "");
  trustProject(daemon.state, project);
  const changing = await client.invoke(scriptedAgent([write("lib.mjs", code)]), { folder: project });
  const first = await answerAsks(client, changing.task, (ask) => !isAboutTrust(ask));
  assert.equal(first.result.status, "completed", JSON.stringify(first.result));
  const { task } = await client.invoke(scriptedAgent([]), { folder: project });
  const { result, asked } = await answerAsks(client, task, () => false);
  assert.equal(result.status, "failed");
  assert.match(asked[0]?.question ?? "", /has changed since you trusted it: lib\.mjs, tutti\.config\.mjs/);
  assert.ok(!existsSync(marker));
  // The person may agree, and only then it runs.
  const agreed = await client.invoke(scriptedAgent([]), { folder: project, anew: true });
  assert.equal((await answerAsks(client, agreed.task, () => true)).result.status, "completed");
  assert.ok(existsSync(marker));
});

test("the user's own config, which needs no trust, runs no file that an agent could have written", async (t) => {
  const { daemon, client, project, marker, code } = await scene(t);
  const own = join(daemon.folder, ".tutti");
  mkdirSync(own, { mode: 0o700 });
  const lib = join(project, "shared.mjs");
  writeFileSync(lib, "export default {};");
  writeFileSync(join(own, "tutti.config.mjs"), `import config from ${JSON.stringify(lib)}; export default config;`);
  const changing = client.invoke(scriptedAgent([write("shared.mjs", code)]), { folder: project });
  await assert.rejects(changing, /shared\.mjs lies outside of .*\.tutti, .*; move what your config imports/);
  writeFileSync(lib, code);
  await assert.rejects(client.invoke(scriptedAgent([]), { folder: project }), { code: "refused" });
  assert.ok(!existsSync(marker));

  writeFileSync(join(own, "shared.mjs"), code);
  writeFileSync(join(own, "tutti.config.mjs"), 'import config from "./shared.mjs"; export default config;');
  const { task } = await client.invoke(scriptedAgent([]), { folder: project });
  assert.equal((await client.result(task)).status, "completed");
  assert.ok(existsSync(marker), "what the user put there is used");
});

test("rules in an invocation cannot free a call, and can refuse one", async (t) => {
  const { client, project, marker } = await scene(t);
  const call = { tool: "run", args: { argv: ["touch", marker], network: true } };
  const free = { execute: "free", network: "free", tools: { run: "free" } };
  const loose = await client.invoke(scriptedAgent([call], { approvals: free }), { folder: project });
  const { asked } = await answerAsks(client, loose.task, () => false);
  assert.partialDeepStrictEqual(asked[0]?.details, { rule: { from: "default", effect: "network" } });
  const strict = await client.invoke(scriptedAgent([call], { approvals: { execute: "refuse" } }), { folder: project });
  const refused = await answerAsks(client, strict.task, () => true);
  assert.deepEqual(refused.asked, []);
  assert.match(JSON.stringify(refused.result.content), /the invocation refuses a call that runs a program/);
  assert.ok(!existsSync(marker));
});

test("an agent that rewrites a package of a trusted config, or of its dependencies, gets no code run", async (t) => {
  const { daemon, client, project, marker, code } = await scene(t);
  const install = (name: string, manifest: object, source: string): string => {
    const folder = join(project, "node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version: "1.0.0", ...manifest }));
    writeFileSync(join(folder, "index.js"), source);
    return `node_modules/${name}/index.js`;
  };
  install("helper", { type: "module", dependencies: { deep: "1" } }, 'import deep from "deep"; export default deep;');
  const deep = install("deep", {}, "module.exports = {};");
  install("stray", {}, "module.exports = {};");
  writeFileSync(join(project, "tutti.config.mjs"), 'import config from "helper"; export default config;');
  trustProject(daemon.state, project);

  const rewriting = scriptedAgent([write(deep, code.replace(/^import (.*) from (.*?);/, "const $1 = require($2);"))]);
  const first = await client.invoke(rewriting, { folder: project });
  const { result, asked } = await answerAsks(client, first.task, (ask) => !isAboutTrust(ask));
  assert.equal(result.status, "completed", JSON.stringify(result));
  assert.ok(!asked.some(isAboutTrust), "the packages as they were are trusted with the config");
  assert.match(readFileSync(join(project, deep), "utf8"), /writeFileSync/);

  const second = await client.invoke(scriptedAgent([]), { folder: project });
  const next = await answerAsks(client, second.task, () => false);
  assert.ok(next.asked.some(isAboutTrust), JSON.stringify(next));
  assert.ok(!existsSync(marker));

  // A package that nothing declares is not part of what was trusted.
  install("deep", {}, 'module.exports = {}; require("stray");');
  trustProject(daemon.state, project);
  await assert.rejects(
    client.invoke(scriptedAgent([]), { folder: project }),
    /stray\/index\.js is not one of the files that were trusted/,
  );
});
