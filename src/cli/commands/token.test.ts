import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";

import { tempFolder } from "../../../test/support/temp-folder.ts";
import { generateKey } from "../../protocol/operator/token-key.ts";
import { mintToken } from "./token-mint.ts";
import { verifyToken } from "./token-verify.ts";

const folder = tempFolder({ after });
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

test("minting makes the key file once, readable by its owner alone, and verifying reads it", async () => {
  const keyFile = freshPath();
  const first = await mintToken({ ...grant, agent: "scout", keyFile });
  assert.equal(first.keyCreated, true);
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
  const content = await readFile(keyFile, "utf8");
  assert.match(content, /^[0-9a-f]{64}\n$/);
  const second = await mintToken({ ...grant, keyFile });
  assert.equal(second.keyCreated, false);
  assert.equal(await readFile(keyFile, "utf8"), content);
  assert.deepEqual(await verifyToken({ token: first.token, keyFile }), first.claims);
  assert.equal(first.claims.agent, "scout");
});

test("a missing folder is made for its owner alone, and no temporary file is left", async () => {
  const parent = join(folder, "state");
  await mintToken({ ...grant, keyFile: join(parent, "key") });
  assert.equal((await stat(parent)).mode & 0o777, 0o700);
  assert.deepEqual(await readdir(parent), ["key"]);
});

test("many mints at once with a new key file use the same key", async () => {
  const keyFile = freshPath();
  const minted = await Promise.all(Array.from({ length: 12 }, () => mintToken({ ...grant, keyFile })));
  assert.equal(minted.filter(({ keyCreated }) => keyCreated).length, 1);
  for (const { token, claims } of minted) assert.deepEqual(await verifyToken({ token, keyFile }), claims);
});

test("a key file that others can read is refused, and the message says what to run", async () => {
  const good = await keyFileOf(generateKey());
  const { token } = await mintToken({ ...grant, keyFile: good });
  for (const mode of [0o640, 0o604, 0o620, 0o601, 0o644]) {
    await chmod(good, mode);
    const refused = { code: "refused", message: new RegExp(`chmod 600 ${good}`) };
    await assert.rejects(mintToken({ ...grant, keyFile: good }), refused);
    await assert.rejects(verifyToken({ token, keyFile: good }), refused);
  }
  await chmod(good, 0o600);
  await verifyToken({ token, keyFile: good });
});

test("for a link, the permissions of the file behind it count", async () => {
  const path = freshPath();
  await symlink(await keyFileOf(generateKey(), 0o644), path);
  await assert.rejects(mintToken({ ...grant, keyFile: path }), { code: "refused" });
});

test("raw bytes and the same bytes in hex are the same key", async () => {
  const raw = generateKey();
  const hex = Buffer.from(raw).toString("hex");
  const { token, claims } = await mintToken({ ...grant, keyFile: await keyFileOf(raw) });
  for (const content of [hex, hex.toUpperCase(), `${hex}\n`]) {
    assert.deepEqual(await verifyToken({ token, keyFile: await keyFileOf(content) }), claims);
  }
});

test("a key file that is too short, too large or not a file is refused and left as it is", async () => {
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
  await assert.rejects(verifyToken({ token: "tt1.a.b", keyFile }), { code: "not_found" });
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

test("an unknown verb is refused with a list of the verbs", async () => {
  const keyFile = await keyFileOf(generateKey());
  const refused = { code: "invalid_input", message: /"promt".*ask, events, prompt, result/ };
  await assert.rejects(mintToken({ ...grant, verbs: ["promt"], keyFile }), refused);
  await assert.rejects(verifyToken({ token: "x", verb: "promt", keyFile }), refused);
});

test("verb, task and attempt are checked only when they are given", async () => {
  const keyFile = freshPath();
  const { token, claims } = await mintToken({ ...grant, keyFile });
  const full = { token, keyFile, verb: "result", task: "tsk_1", attempt: 1 };
  assert.deepEqual(await verifyToken(full), claims);
  const refused = (reason: string): object => ({ code: "refused", details: { reason } });
  await assert.rejects(verifyToken({ ...full, verb: "ask" }), refused("verb_not_granted"));
  await assert.rejects(verifyToken({ token, keyFile, task: "tsk_2" }), refused("wrong_task"));
  await assert.rejects(verifyToken({ token, keyFile, attempt: 2 }), refused("wrong_attempt"));
});

test("altered, foreign, expired and malformed tokens each give their own code", async () => {
  const keyFile = freshPath();
  const { token } = await mintToken({ ...grant, keyFile });
  const foreign = await mintToken({ ...grant, keyFile: freshPath() });
  await assert.rejects(verifyToken({ token: foreign.token, keyFile }), {
    code: "refused",
    details: { reason: "bad_signature" },
  });
  await assert.rejects(verifyToken({ token: `${token}x`, keyFile }), { code: "invalid_input" });
  const brief = await mintToken({ ...grant, ttl: 0.001, keyFile });
  await new Promise((resolve) => setTimeout(resolve, 5));
  await assert.rejects(verifyToken({ token: brief.token, keyFile }), { code: "expired" });
});

test("white space around a token is ignored", async () => {
  const keyFile = freshPath();
  const { token, claims } = await mintToken({ ...grant, keyFile });
  assert.deepEqual(await verifyToken({ token: ` ${token}\n`, keyFile }), claims);
});

test("a key file that cannot be made is an io error", async () => {
  const blocker = await keyFileOf("x");
  await assert.rejects(mintToken({ ...grant, keyFile: join(blocker, "key") }), { code: "io" });
});
