// `tutti models add` against servers that speak the real protocol, as real processes with a home folder of their own.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { bench } from "../../../test/support/cli-process.ts";
import { modelServer, type Received, type Turn } from "../../../test/support/model-server.ts";
import { tempFolder } from "../../../test/support/temp-folder.ts";

const list = {
  object: "list",
  data: ["qwen3-coder", "nomic-embed-text", "small"].map((id) => ({ id, object: "model" })),
};

function serving(request: Received): Turn {
  if (request.url === "/v1/models") return { status: 200, body: list };
  if (request.url === "/v1/chat/completions") return { reply: { text: ["Good ", "morning."] } };
  return { status: 404 };
}

function setting(t: TestContext) {
  const home = tempFolder(t, "tutti-home-");
  process.env["HOME"] = home;
  const b = bench(t);
  const file = join(home, ".tutti", "tutti.config.json");
  const add = (...args: readonly string[]) => b.start("models", "add", ...args).ended;
  const write = (name: string, text: string): void => {
    mkdirSync(join(home, ".tutti"), { recursive: true, mode: 0o700 });
    writeFileSync(join(home, ".tutti", name), text);
  };
  return { b, home, file, add, write, config: (): unknown => JSON.parse(readFileSync(file, "utf8")) };
}

test("one command sets a local server up, and agents get their answers from it", async (t) => {
  const { b, file, add, config } = setting(t);
  const server = await modelServer(t, "openai-compatible", serving);
  const { status, out, err } = await add(server.origin);
  assert.deepEqual([status, err], [0, ""]);
  assert.match(out, /local\/qwen3-coder {2}the default from now on\n {2}local\/small\n/);
  assert.doesNotMatch(out, /nomic/);
  assert.deepEqual(config(), {
    models: {
      default: "local/qwen3-coder",
      providers: { local: { kind: "openai-compatible", base_url: `${server.origin}/v1`, key_env: null } },
    },
  });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  mkdirSync(join(b.folder, ".tutti", "agents"), { recursive: true });
  writeFileSync(join(b.folder, ".tutti", "agents", "greeter.md"), "---\ndescription: Greets.\n---\nGreet.\n");
  const answered = await b.start("agents", "run", "greeter", "Good morning?").ended;
  assert.match(answered.out, /Good morning\./, answered.err);
  assert.ok(server.received.some(({ body }) => body["model"] === "qwen3-coder"));
});

test("what the config has is kept; a second server does not become the default unless one of its models is named", async (t) => {
  const { add, write, config } = setting(t);
  const server = await modelServer(t, "openai-compatible", serving);
  const limits = { money_per_day: 5 };
  const best = {
    models: { default: "anthropic/claude-opus-5-5", aliases: { best: "anthropic/claude-opus-5-5" } },
    limits,
  };
  write("tutti.config.json", JSON.stringify(best));
  const first = await add(`${server.origin}/v1`, "--name", "gpu");
  assert.match(first.out, /The default stays anthropic\/claude-opus-5-5/, first.err);
  const gpu = { kind: "openai-compatible", base_url: `${server.origin}/v1`, key_env: null };
  assert.deepEqual(config(), { models: { ...best.models, providers: { gpu } }, limits });
  assert.match((await add(`${server.origin}/v1`, "--name", "gpu")).out, /stays as it is: it has this server already/);
  const named = await add(`${server.origin}/v1`, "--name", "gpu", "--model", "small");
  assert.match(named.out, /gpu\/small {2}the default from now on/);
  const unknown = await add(`${server.origin}/v1`, "--name", "gpu", "--model", "nope");
  assert.deepEqual([unknown.status, /has no model nope; it has: qwen3-coder, small/.test(unknown.err)], [4, true]);
  const taken = await add("http://127.0.0.1:1/v1", "--name", "gpu", "--model", "m", "--offline");
  assert.deepEqual([taken.status, /give this one another name with --name NAME/.test(taken.err)], [7, true]);
  const builtIn = await add(`${server.origin}/v1`, "--name", "openai");
  assert.match(builtIn.err, /openai is the server at https:\/\/api\.openai\.com\/v1/);
});

test("a server that cannot be used is named with what to do, and nothing is written", async (t) => {
  const { file, add } = setting(t);
  const fails = async (args: readonly string[], status: number, said: RegExp): Promise<void> => {
    const ended = await add(...args);
    assert.equal(ended.status, status, ended.err);
    assert.match(ended.err, said);
    assert.ok(!existsSync(file));
  };
  const gone = await modelServer(t, "openai-compatible", [{ hangUp: true }]);
  const silent = await modelServer(t, "openai-compatible", [{ silent: true }]);
  const web = await modelServer(t, "openai-compatible", [{ text: "<!doctype html><title>A page</title>" }]);
  const locked = await modelServer(t, "openai-compatible", [{ status: 401 }]);
  const empty = await modelServer(t, "openai-compatible", [{ status: 200, body: { object: "list", data: [] } }]);
  await fails(["http://127.0.0.1:2/v1"], 7, /no server could be reached at .*: .*ECONNREFUSED.*; start the server/);
  await fails([`${gone.origin}/v1`], 7, /no server could be reached/);
  await fails([`${silent.origin}/v1`, "--timeout", "0.5"], 7, /did not answer within .*--timeout SECONDS/);
  await fails([`${web.origin}/v1`], 3, /no server that speaks OpenAI's chat completions .*no list of models/);
  await fails([`${locked.origin}/v1`], 5, /wants a key; .*export LOCAL_API_KEY=….*--key-env LOCAL_API_KEY/);
  await fails([`${empty.origin}/v1`], 4, /has no model; load one there/);
  await fails(["ftp://127.0.0.1/v1"], 2, /no address of a server/);
  await fails(["http://me:secret@127.0.0.1/v1"], 2, /leave it out/);
});

test("a key goes to the server from its variable, and the config has only the variable's name", async (t) => {
  const server = await modelServer(t, "openai-compatible", (request) =>
    request.headers["authorization"] === "Bearer sk-local-4711" ? serving(request) : { status: 401 },
  );
  t.after(() => delete process.env["GPU_KEY"]);
  const withKey = async (key: string) => {
    process.env["GPU_KEY"] = key;
    const scene = setting(t);
    return { ...scene, ended: await scene.add(server.origin, "--key-env", "GPU_KEY") };
  };
  const unset = await withKey("");
  assert.deepEqual([unset.ended.status, /GPU_KEY is not set in this shell/.test(unset.ended.err)], [2, true]);
  const wrong = await withKey("wrong");
  assert.match(wrong.ended.err, /does not accept the key in GPU_KEY/);
  assert.ok(!existsSync(wrong.file));
  const { add, file, ended } = await withKey("sk-local-4711");
  assert.deepEqual([ended.status, ended.err], [0, ""]);
  const written = readFileSync(file, "utf8");
  assert.match(written, /"key_env": "GPU_KEY"/);
  assert.ok(!`${written}${ended.out}`.includes("sk-local-4711"));
  const far = await add("http://models.example.com/v1", "--key-env", "GPU_KEY");
  assert.deepEqual([far.status, /unencrypted; use an address with https/.test(far.err)], [5, true]);
});

test("a config that is code or has comments is not rewritten: what to add is printed", async (t) => {
  const server = await modelServer(t, "openai-compatible", serving);
  for (const [name, text, why] of [
    ["tutti.config.mjs", "export default {};\n", "it is code"],
    ["tutti.config.jsonc", "// mine\n{}\n", "it has comments"],
  ] as const) {
    const { home, add, write } = setting(t);
    write(name, text);
    const { status, out, err } = await add(server.origin);
    assert.equal(status, 0, err);
    assert.match(out, new RegExp(`is not rewritten, because ${why}\\. Add this to it:\\n\\{\\n {2}"models"`));
    assert.equal(readFileSync(join(home, ".tutti", name), "utf8"), text);
  }
  const { add, write, file } = setting(t);
  write("tutti.config.json", '{ "models": { "nope": 1 } }');
  const broken = await add(server.origin);
  assert.deepEqual([broken.status, /tutti\.config\.json: models/.test(broken.err)], [3, true]);
  assert.equal(readFileSync(file, "utf8"), '{ "models": { "nope": 1 } }');
});
