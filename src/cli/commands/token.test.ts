import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { generateKey } from "../../protocol/operator/token-key.ts";
import { mintToken, verifyTokenText } from "./token.ts";

const folder = await mkdtemp(join(tmpdir(), "tutti-token-"));
after(() => rm(folder, { recursive: true }));
const grant = { task: "tsk_1", attempt: 1, verbs: ["prompt", "result"], ttl: 1800 };
let files = 0;

function freshPath(): string {
  files += 1;
  return join(folder, `key-${files}`);
}

async function keyFileOf(content: string | Uint8Array, mode = 0o600): Promise<string> {
  const path = freshPath();
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

test("minting makes the key file once, for its owner alone, and verifying reads it", async () => {
  const keyFile = freshPath();
  const first = await mintToken({ ...grant, agent: "scout", keyFile });
  assert.equal(first.keyCreated, true);
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
  const content = await readFile(keyFile, "utf8");
  assert.match(content, /^[0-9a-f]{64}\n$/);
  const second = await mintToken({ ...grant, keyFile });
  assert.equal(second.keyCreated, false);
  assert.equal(await readFile(keyFile, "utf8"), content);
  assert.deepEqual(await verifyTokenText({ token: first.token, keyFile }), first.claims);
  assert.equal(first.claims.agent, "scout");
});

test("a missing folder is made for its owner alone, and no draft of the key is left", async () => {
  const parent = join(folder, "state");
  await mintToken({ ...grant, keyFile: join(parent, "key") });
  assert.equal((await stat(parent)).mode & 0o777, 0o700);
  assert.deepEqual(await readdir(parent), ["key"]);
});

test("many mints at once on a new key file agree on one key", async () => {
  const keyFile = freshPath();
  const minted = await Promise.all(Array.from({ length: 12 }, () => mintToken({ ...grant, keyFile })));
  assert.equal(minted.filter(({ keyCreated }) => keyCreated).length, 1);
  for (const { token, claims } of minted) assert.deepEqual(await verifyTokenText({ token, keyFile }), claims);
});

test("a key file others can read is refused, and the message says what to run", async () => {
  const good = await keyFileOf(generateKey());
  const { token } = await mintToken({ ...grant, keyFile: good });
  for (const mode of [0o640, 0o604, 0o620, 0o601, 0o644]) {
    await chmod(good, mode);
    const refused = { code: "refused", message: new RegExp(`chmod 600 ${good}`) };
    await assert.rejects(mintToken({ ...grant, keyFile: good }), refused);
    await assert.rejects(verifyTokenText({ token, keyFile: good }), refused);
  }
  await chmod(good, 0o600);
  await verifyTokenText({ token, keyFile: good });
});

test("the permissions that count are those of the file behind a link", async () => {
  const path = freshPath();
  await symlink(await keyFileOf(generateKey(), 0o644), path);
  await assert.rejects(mintToken({ ...grant, keyFile: path }), { code: "refused" });
});

test("raw bytes and their hex are the same key", async () => {
  const raw = generateKey();
  const hex = Buffer.from(raw).toString("hex");
  const { token, claims } = await mintToken({ ...grant, keyFile: await keyFileOf(raw) });
  for (const content of [hex, hex.toUpperCase(), `${hex}\n`]) {
    assert.deepEqual(await verifyTokenText({ token, keyFile: await keyFileOf(content) }), claims);
  }
});

test("a key that is too short, too large or not a file is refused and left as it is", async () => {
  const hexOf16Bytes = "0f".repeat(16);
  for (const content of ["", "short", hexOf16Bytes, new Uint8Array(31).fill(200), new Uint8Array(5000).fill(200)]) {
    const keyFile = await keyFileOf(content);
    await assert.rejects(mintToken({ ...grant, keyFile }), { code: "invalid_input" });
    assert.deepEqual(await readFile(keyFile), Buffer.from(content));
  }
  const directory = freshPath();
  await mkdir(directory, { mode: 0o700 });
  await assert.rejects(mintToken({ ...grant, keyFile: directory }), { code: "invalid_input" });
});

test("verifying without the key file does not make one", async () => {
  const keyFile = freshPath();
  await assert.rejects(verifyTokenText({ token: "tt1.a.b", keyFile }), { code: "not_found" });
  await assert.rejects(stat(keyFile), { code: "ENOENT" });
});

test("a grant that is refused leaves no key file behind", async () => {
  const keyFile = freshPath();
  const bad = [{ verbs: ["*"] }, { verbs: [] }, { task: "" }, { attempt: 0 }, { ttl: 0 }, { ttl: 25 * 3600 }];
  for (const fields of bad) {
    await assert.rejects(mintToken({ ...grant, ...fields, keyFile }), { code: "invalid_input" });
  }
  await assert.rejects(stat(keyFile), { code: "ENOENT" });
});

test("an unknown verb is refused with the verbs there are", async () => {
  const keyFile = await keyFileOf(generateKey());
  const refused = { code: "invalid_input", message: /"promt".*ask, events, prompt, result/ };
  await assert.rejects(mintToken({ ...grant, verbs: ["promt"], keyFile }), refused);
  await assert.rejects(verifyTokenText({ token: "x", verb: "promt", keyFile }), refused);
});

test("what is demanded is checked, what is not demanded is not", async () => {
  const keyFile = freshPath();
  const { token, claims } = await mintToken({ ...grant, keyFile });
  const full = { token, keyFile, verb: "result", task: "tsk_1", attempt: 1 };
  assert.deepEqual(await verifyTokenText(full), claims);
  const refused = (reason: string): object => ({ code: "refused", details: { reason } });
  await assert.rejects(verifyTokenText({ ...full, verb: "ask" }), refused("verb_not_granted"));
  await assert.rejects(verifyTokenText({ token, keyFile, task: "tsk_2" }), refused("wrong_task"));
  await assert.rejects(verifyTokenText({ token, keyFile, attempt: 2 }), refused("wrong_attempt"));
});

test("altered, foreign, expired and malformed tokens each have their code", async () => {
  const keyFile = freshPath();
  const { token } = await mintToken({ ...grant, keyFile });
  const foreign = await mintToken({ ...grant, keyFile: freshPath() });
  await assert.rejects(verifyTokenText({ token: foreign.token, keyFile }), {
    code: "refused",
    details: { reason: "bad_signature" },
  });
  await assert.rejects(verifyTokenText({ token: `${token}x`, keyFile }), { code: "invalid_input" });
  const brief = await mintToken({ ...grant, ttl: 0.001, keyFile });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await assert.rejects(verifyTokenText({ token: brief.token, keyFile }), { code: "expired" });
});

test("white space around a token on the command line is not part of it", async () => {
  const keyFile = freshPath();
  const { token, claims } = await mintToken({ ...grant, keyFile });
  assert.deepEqual(await verifyTokenText({ token: ` ${token}\n`, keyFile }), claims);
});

test("a key file that cannot be made is an io error", async () => {
  const blocker = await keyFileOf("x");
  await assert.rejects(mintToken({ ...grant, keyFile: join(blocker, "key") }), { code: "io" });
});
