// A repository declares an MCP server that looks like nothing, and a session rewrites what a person agreed to.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";

import type { Tutti } from "../../src/client/client.ts";
import { httpClient } from "../../src/client/http-client.ts";
import type { OpenAsk } from "../../src/protocol/api/task-shapes.ts";
import { serverCode } from "../../src/daemon/project/server-code-files.ts";
import { copyOfCode } from "../../src/mcp/server-code.ts";
import { shownTerms } from "../../src/mcp/server-terms.ts";
import { readMcpFile } from "../../src/protocol/invocation/mcp-servers.ts";
import { probeSandbox } from "../../src/runner/shared/sandbox/sandbox-status.ts";
import { type UpProcess, upScene, type UpScene } from "../support/up-process.ts";
import { until } from "../support/wait-until.ts";

const clone = join(import.meta.dirname, "..", "..");
const person = { kind: "person", name: "you" } as const;

let scene: UpScene;
let daemon: UpProcess;
let tutti: Tutti;
let project: string;
let made = 0;
const ends: (() => unknown)[] = [];
const { confined } = await probeSandbox();

before(async () => {
  scene = upScene({ after: (end) => void ends.push(() => Reflect.apply(end ?? (() => undefined), undefined, [])) });
  // A clone in /tmp or in a home folder is hidden from confined programs, unless the person names it.
  mkdirSync(join(scene.folder, ".tutti"), { mode: 0o700 });
  const config = JSON.stringify({ acp: { toolchains: [clone] } });
  writeFileSync(join(scene.folder, ".tutti", "tutti.config.json"), config, { mode: 0o600 });
  daemon = await scene.up();
  tutti = httpClient({ url: daemon.found.daemon.url, key: daemon.found.key });
});

after(async () => {
  for (const end of ends.toReversed()) await end();
});

/** What it says is in a file of its own, which it loads when it is asked. */
const program = `
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const text = (said) => ({ content: [{ type: "text", text: said }] });
const calls = {
  say: async () => text((await import("./words.js")).words),
  look: ({ path }) => {
    try { return text(readFileSync(path, "utf8")); } catch { return text("not to be seen"); }
  },
  environment: () => text(JSON.stringify(process.env)),
};
const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "it", version: "1" } }),
  "tools/list": () => ({ tools: Object.keys(calls).map((name) => ({ name, description: name, inputSchema: { type: "object" } })) }),
  "tools/call": ({ name, arguments: input }) => calls[name](input ?? {}),
};
createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const known = methods[method];
  const answer = known === undefined ? { error: { code: -32601, message: "unknown" } } : { result: await known(params ?? {}) };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;
const wordsOf = (said: string): string => `export const words = ${JSON.stringify(said)};\n`;

beforeEach(() => {
  made += 1;
  project = join(scene.folder, `project-${made}`);
  mkdirSync(join(project, ".git"), { recursive: true });
  mkdirSync(join(project, "tools"));
  writeFileSync(join(project, "README.md"), "live file");
  writeFileSync(join(project, "tools", "server.js"), program);
  writeFileSync(join(project, "tools", "words.js"), wordsOf("agreed words"));
});

const own = { command: process.execPath, args: ["tools/server.js"], network: false };

function declare(server: object): void {
  writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { it: server } }));
}

async function start(tool: string, { args = {}, root = "." }: { args?: object; root?: string } = {}): Promise<string> {
  const target = {
    agent: { type: "named", agent_id: "meteo" },
    message: { role: "user", parts: [{ part_type: "text", data: "Go." }] },
  };
  const file = {
    invocation: { targets: [target] },
    agents: { meteo: { instructions: "You call tools.", tools: [`mcp__it__${tool}`] } },
    roots: [root],
    script: {
      rules: [
        { agent: "meteo", turn: 0, call: [{ tool: `mcp__it__${tool}`, args }] },
        { agent: "meteo", final: "heard: {{last}}" },
      ],
    },
  };
  return (await tutti.invoke(JSON.stringify(file), { folder: project, anew: true })).task;
}

const heard = async (task: string): Promise<string> =>
  JSON.stringify(await tutti.result(task, AbortSignal.timeout(240_000)));

async function asked(task: string): Promise<OpenAsk> {
  const listed = await until(async () => (await tutti.asks(task))[0]);
  return tutti.ask(listed.id);
}

async function answer(ask: OpenAsk, approved = true): Promise<void> {
  assert.deepEqual(await tutti.answer(ask.id, { kind: "approval", approved }, person), { accepted: true });
}

/** Says yes to everything until the task ends. */
async function allowed(task: string): Promise<string> {
  const ended = heard(task);
  let isOver = false;
  void ended.finally(() => (isOver = true)).catch(() => undefined);
  await until(async () => {
    if (isOver) return true;
    for (const { id } of await tutti.asks(task)) await answer(await tutti.ask(id));
    return isOver;
  });
  return ended;
}

test("variables that load code into its program are refused before anybody is asked, and the daemon says which", async () => {
  const names =
    "LD_PRELOAD DYLD_INSERT_LIBRARIES NODE_OPTIONS BASH_ENV ENV PYTHONSTARTUP PERL5OPT RUBYOPT GIT_SSH PATH";
  for (const name of names.split(" ")) {
    declare({ ...own, env: { [name]: "/tmp/evil" } });
    await assert.rejects(start("say"), /there is no MCP server it that could be used/, name);
    assert.deepEqual(await tutti.asks(), []);
    assert.match(daemon.said(), new RegExp(`it sets the variable ${name}, .* ~/\\.tutti/tutti\\.config\\.json`));
  }
});

test("the question shows all of its settings, what it may do first, with what cannot be seen", async () => {
  declare({
    command: "cat",
    args: ["README.md", "a\u202eb", "c\nd"],
    env: { TOKEN: "literal", SECRET: "${MY_SECRET}" },
    cwd: "tools/..",
    write: true,
    timeout_ms: 7_000,
  });
  const { question, details } = await asked(await start("say"));
  const settings = question.split("\n").filter((line) => line.startsWith("  | "));
  assert.deepEqual(
    settings.filter((line) => !line.startsWith("  | code ")),
    [
      "  | reads      the task's folders; WHAT IT RUNS FROM THERE CAN CHANGE AFTER YOUR YES",
      "  | changes    FILES OF THE TASK'S FOLDERS",
      "  | network    REACHES THE NETWORK",
      "  | runs       cat README.md $'a\\u202eb' $'c\\nd'",
      '  | in         "tools/.."',
      '  | variable   TOKEN="literal"',
      '  | variable   SECRET="${MY_SECRET}"',
      "  | waits      7000 ms for an answer",
      "  | speaks     MCP over stdio",
      "  | given      your variables MY_SECRET",
      "  | BEWARE     characters that cannot be seen are written as escapes here",
    ],
  );
  assert.match(question, /code {7}"README\.md" sha256 [0-9a-f]{12}/);
  assert.equal(Object(details)["settings"].write, true);
});

test("headers of an address are shown, and a secret only as the name of its variable", async () => {
  const url = "https://good.example@evil.example/mcp";
  declare({ url, headers: { "X-Login": "Bearer ${MY_SECRET}", "X-Plain": "hello" } });
  const { question } = await asked(await start("say"));
  for (const line of [
    `calls      "${url}"`,
    'host       "evil.example"',
    'header     X-Login: "Bearer ${MY_SECRET}"',
    'header     X-Plain: "hello"',
  ])
    assert.ok(question.includes(`  | ${line}\n`), line);
});

test("what is rewritten while the question stands is not what runs after the yes", async () => {
  declare(own);
  const task = await start("say");
  const ask = await asked(task);
  writeFileSync(join(project, "tools", "server.js"), program.replace("agreed", "other").concat("\n"));
  await answer(ask);
  assert.match(await heard(task), /there is no tool mcp__it__say/);
  const again = await asked(await start("say"));
  assert.match(again.question, /has changed since you agreed to it/);
});

test("what is rewritten after the yes is not run, neither by the task that runs nor by one with another folder, and the next one asks", async () => {
  declare({ ...own, network: true });
  const task = await start("say");
  await answer(await asked(task));
  const call = await until(async () =>
    (await tutti.asks(task)).find(({ question }) => question.includes("mcp__it__say")),
  );
  writeFileSync(join(project, "tools", "words.js"), wordsOf("rewritten"));
  await answer(await tutti.ask(call.id));
  assert.match(await heard(task), /agreed words/);
  const next = await start("say");
  const ask = await asked(next);
  assert.match(ask.question, /has changed since you agreed to it/);
  await answer(ask, false);
  assert.match(await heard(next), /there is no tool mcp__it__say/);

  writeFileSync(join(project, "tools", "words.js"), wordsOf("agreed words"));
  const session = join(project, "session");
  cpSync(join(project, "tools"), join(session, "tools"), { recursive: true });
  writeFileSync(join(session, "tools", "words.js"), wordsOf("of the session"));
  assert.match(await allowed(await start("say", { root: "session" })), /agreed words/);
});

test("a copy that something was added to is made anew", async () => {
  declare(own);
  assert.match(await allowed(await start("say")), /agreed words/);
  const copies = join(scene.state, "mcp-code");
  for (const name of readdirSync(copies)) {
    rmSync(join(copies, name, "tools", "words.js"), { force: true });
    mkdirSync(join(copies, name, "tools"), { recursive: true });
    writeFileSync(join(copies, name, "tools", "words.js"), wordsOf("planted"));
  }
  assert.match(await allowed(await start("say")), /agreed words/);
});

for (const [what, command, args] of [
  ["a shell", "sh", ["-c", `exec '${process.execPath}' tools/server.js`]],
  ["an option", process.execPath, ["--import", "data:text/javascript,", "-e", 'import("./tools/server.js")']],
  ["a folder", process.execPath, ["./tools"]],
] as const) {
  test(`a program that is started through ${what} finds nothing of the folder that was not agreed to`, async () => {
    writeFileSync(join(project, "tools", "package.json"), '{"type":"module","main":"server.js"}');
    declare({ ...own, command, args });
    assert.match(await allowed(await start("say")), /there is no tool mcp__it__say/);
    // It is found when the settings name it, and then it is part of what is agreed to.
    declare({ ...own, command, args, files: ["tools"] });
    assert.match(await allowed(await start("say")), /agreed words/);
    writeFileSync(join(project, "tools", "words.js"), wordsOf("rewritten"));
    assert.match((await asked(await start("say"))).question, /has changed since you agreed to it/);
  });
}

test("it sees the folder only when its settings say so, and then the question does", { skip: !confined }, async () => {
  const path = join(project, "README.md");
  declare(own);
  const blind = await start("look", { args: { path } });
  const ask = await asked(blind);
  assert.doesNotMatch(ask.question, /CAN CHANGE AFTER YOUR YES/);
  await answer(ask);
  assert.match(await heard(blind), /not to be seen/);
  declare({ ...own, env: { FOLDER: "${TUTTI_FOLDER}" } });
  const seeing = await start("look", { args: { path } });
  const question = await asked(seeing);
  assert.match(question.question, /reads {6}the task's folders; WHAT IT RUNS FROM THERE CAN CHANGE AFTER YOUR YES/);
  await answer(question);
  assert.match(await heard(seeing), /live file/);
});

test("no file outside of the project can be listed, and a link that leads out brings nothing with it", async () => {
  declare({ ...own, files: ["../project-1"] });
  await assert.rejects(start("say"), /there is no MCP server it that could be used/);
  assert.match(daemon.said(), /its field files names .*project-1.*which is not in the project/);
  const outside = join(scene.folder, "outside.js");
  writeFileSync(outside, program.replace("./words.js", join(project, "tools", "words.js")));
  symlinkSync(outside, join(project, "link.js"));
  declare({ ...own, args: ["link.js"] });
  assert.match(await allowed(await start("say")), /there is no tool mcp__it__say/);
});

test("a full path to a file of the project means the copy of it, too", async () => {
  declare({ ...own, args: [join(project, "tools", "server.js")], network: true });
  const task = await start("say");
  await answer(await asked(task));
  const call = await until(async () =>
    (await tutti.asks(task)).find(({ question }) => question.includes("mcp__it__say")),
  );
  writeFileSync(join(project, "tools", "words.js"), wordsOf("rewritten"));
  await answer(await tutti.ask(call.id));
  assert.match(await heard(task), /agreed words/);
});

test("a config shows all that it sets beside its servers, these with all of their settings, and does not bring files with it that nobody agreed to", async () => {
  const server = { ...own, write: true, env: { A: "b" } };
  writeFileSync(
    join(project, "tutti.config.json"),
    JSON.stringify({ mcpServers: { it: server }, approvals: { network: "free" } }),
  );
  const task = await start("say");
  const config = await asked(task);
  assert.match(config.question, / It sets:\n {2}\| \{\n[^]*\n {2}\| {5}"network": "free"\n/);
  assert.match(config.question, /It declares MCP servers:\n {2}\| it\n[^]*FILES OF THE TASK'S FOLDERS\n[^]*A="b"\n/);
  await answer(config);
  const { question } = await until(async () => (await tutti.asks(task)).find(({ id }) => id !== config.id));
  assert.match(question, /The MCP server it of the project's config was never agreed to/);
  assert.match(question, /code {7}"tools\/words\.js" sha256/);
});

test("links that lead to each other do not lead out of the copy to a file that a session can change", async () => {
  const up = "../".repeat(20);
  symlinkSync(".", join(project, "d"));
  symlinkSync(`${up}${realpathSync(project).slice(1)}/tools/server.js`, join(project, "out.js"));
  const behind = `${"d/".repeat(20)}out.js`;
  // Of a default nothing is looked up, so the script is found in the copy alone.
  const entry = { ...own, args: ["${TZ:-out.js}"], files: ["d", behind, "tools"] };
  const { servers } = readMcpFile({ mcpServers: { it: entry } });
  assert.ok(servers["it"]);
  const code = serverCode(project, servers["it"]);
  const { lines } = shownTerms({ name: "it", entry: servers["it"], code: code.files });
  assert.ok(
    lines.some((line) => line.includes(`/tools/server.js"`) && line.includes("link to ../")),
    lines.join("\n"),
  );
  const state = join(scene.folder, "copies");
  await assert.rejects(copyOfCode(state, code), /lies behind a link/);
  assert.deepEqual(readdirSync(join(state, "mcp-code")), []);
});
