import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "../../../test/support/properties.ts";
import { TuttiError } from "../error.ts";
import { digestSecret } from "./digest.ts";
import { newHandle } from "./handle.ts";
import {
  checkClaims,
  issueToken,
  maxTokenLength,
  openToken,
  renewToken,
  tokenRefusals,
  verifyToken,
  WorkerVerb,
  type TokenClaims,
  type TokenDemand,
  type TokenGrant,
} from "./capability-token.ts";
import { generateKey, importKey } from "./token-key.ts";

const raw = Uint8Array.from({ length: 32 }, (_, at) => at);
const key = await importKey(raw);
const otherKey = await importKey(generateKey());
const now = 1_700_000_000_000;
const halfHour = 30 * 60 * 1000;
const grant: TokenGrant = { task: "tsk_1", attempt: 2, agent: "scout", verbs: ["result", "prompt"] };
const demand: TokenDemand = { now, verb: "result", task: "tsk_1", attempt: 2 };

async function reasonOf(token: string, wanted: Partial<TokenDemand> = {}, withKey = key): Promise<string> {
  const check = await verifyToken(token, withKey, { ...demand, ...wanted });
  if (!check.ok) assert.equal(check.message, tokenRefusals[check.reason]);
  return check.ok ? "ok" : check.reason;
}

/** Signs any payload, by other means than the code under test. */
function signByHand(payload: string, { prefix = "tt1", secret = raw } = {}): string {
  const signed = `${prefix}.${Buffer.from(payload).toString("base64url")}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

const claims: TokenClaims = {
  task: "tsk_1",
  attempt: 2,
  agent: "scout",
  verbs: ["prompt", "result"],
  expires_at: now + halfHour,
  nonce: "000102030405060708090a0b0c0d0e0f",
};

test("what was issued passes and says what was granted, for half an hour unless told otherwise", async () => {
  const issued = await issueToken(grant, key, { now });
  assert.deepEqual(issued.claims, { ...claims, nonce: issued.claims.nonce });
  assert.deepEqual(await verifyToken(issued.token, key, demand), { ok: true, claims: issued.claims });
});

test("the format is fixed: HMAC-SHA256 over `tt1.<payload>`, the payload being JSON in this order", async () => {
  const byHand = signByHand(JSON.stringify(claims));
  assert.equal(
    byHand,
    "tt1.eyJ0YXNrIjoidHNrXzEiLCJhdHRlbXB0IjoyLCJhZ2VudCI6InNjb3V0IiwidmVyYnMiOlsicHJvbXB0IiwicmVzdWx0Il0sImV4cGlyZXNfYXQiOjE3MDAwMDE4MDAwMDAsIm5vbmNlIjoiMDAwMTAyMDMwNDA1MDYwNzA4MDkwYTBiMGMwZDBlMGYifQ.o0ntq3IUYGv5AP8-ob8ONvV5NOJwzjK30N0_ynIi7xk",
  );
  assert.deepEqual(await openToken(byHand, key), { ok: true, claims });
});

test("two tokens of one grant differ", async () => {
  const [one, two] = await Promise.all([issueToken(grant, key, { now }), issueToken(grant, key, { now })]);
  assert.notEqual(one.token, two.token);
});

test("any grant survives the round trip", async () => {
  const name = fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
    .filter((text) => text.trim() !== "" && !/\p{Cc}/u.test(text));
  const grants = fc.record(
    {
      task: name,
      attempt: fc.integer({ min: 1, max: 0xffff_ffff }),
      agent: name,
      verbs: fc.subarray([...WorkerVerb.options], { minLength: 1 }),
    },
    { requiredKeys: ["task", "attempt", "verbs"] },
  );
  await fc.assert(
    fc.asyncProperty(grants, async (wanted) => {
      const { token, claims: granted } = await issueToken(wanted, key, { now });
      assert.match(token, /^tt1\.[\w-]+\.[\w-]{43}$/);
      const verb = wanted.verbs[0] ?? "prompt";
      const check = await verifyToken(token, key, { now, verb, task: wanted.task, attempt: wanted.attempt });
      assert.deepEqual(check, { ok: true, claims: granted });
      assert.equal(granted.agent, wanted.agent);
    }),
    { numRuns: 100 },
  );
});

test("the longest grant fits into the size limit", async () => {
  const task = "語".repeat(256);
  const { token } = await issueToken(
    { task, attempt: 0xffff_ffff, agent: '"'.repeat(256), verbs: WorkerVerb.options },
    key,
    { now },
  );
  assert.ok(token.length < maxTokenLength);
  assert.equal(await reasonOf(token, { task, attempt: 0xffff_ffff }), "ok");
});

test("the checks come in order: form, signature, expiry, verbs, task, attempt", async () => {
  const { token } = await issueToken(grant, key, { now });
  const wrong = { now: now + halfHour, verb: "ask", task: "tsk_2", attempt: 3 } as const;
  assert.equal(await reasonOf("nonsense", wrong, otherKey), "malformed");
  assert.equal(await reasonOf(token, wrong, otherKey), "bad_signature");
  assert.equal(await reasonOf(token, wrong), "expired");
  assert.equal(await reasonOf(token, { ...wrong, now }), "verb_not_granted");
  assert.equal(await reasonOf(token, { ...wrong, now, verb: "prompt" }), "wrong_task");
  assert.equal(await reasonOf(token, { attempt: 3 }), "wrong_attempt");
  assert.equal(await reasonOf(token), "ok");
});

test("a token is dead from the very millisecond of its expiry", async () => {
  const { token } = await issueToken(grant, key, { now, life: 1000 });
  assert.equal(await reasonOf(token, { now: now + 999 }), "ok");
  assert.equal(await reasonOf(token, { now: now + 1000 }), "expired");
});

test("a clock that is not a number lets nothing pass", async () => {
  const { token } = await issueToken(grant, key, { now });
  assert.equal(await reasonOf(token, { now: Number.NaN }), "expired");
});

test("scopes are enforced: a verb that was not granted is refused, and there is no wildcard", async () => {
  for (const granted of WorkerVerb.options) {
    const { token } = await issueToken({ ...grant, verbs: [granted] }, key, { now });
    for (const verb of WorkerVerb.options) {
      assert.equal(await reasonOf(token, { verb }), verb === granted ? "ok" : "verb_not_granted");
    }
  }
  assert.equal(await reasonOf(signByHand(JSON.stringify({ ...claims, verbs: ["*"] }))), "malformed");
});

test("a token is bound to its attempt: a late worker of one cannot act in the next", async () => {
  const { token } = await issueToken(grant, key, { now });
  assert.equal(await reasonOf(token, { attempt: 1 }), "wrong_attempt");
  assert.equal(await reasonOf(token, { attempt: 3 }), "wrong_attempt");
});

test("separators inside names cannot make two grants look alike", async () => {
  const one = await issueToken({ task: "a|b,c", attempt: 1, agent: "d", verbs: ["prompt"] }, key, { now });
  assert.equal(await reasonOf(one.token, { task: "a", attempt: 1, verb: "prompt" }), "wrong_task");
  const tricky = 'tsk_1","attempt":9,"x":"';
  const two = await issueToken({ ...grant, task: tricky }, key, { now });
  assert.equal(two.claims.attempt, 2);
  assert.equal(await reasonOf(two.token), "wrong_task");
  assert.equal(await reasonOf(two.token, { task: tricky }), "ok");
});

test("the claims behind a worker handle pass the same checks as a token's", async () => {
  const { claims: granted } = await issueToken(grant, key, { now });
  const handle = newHandle();
  const kept = new Map([[await digestSecret(handle), granted]]);
  const found = kept.get(await digestSecret(handle));
  assert.ok(found !== undefined);
  const reason = (wanted: Partial<TokenDemand>): string => {
    const check = checkClaims(found, { ...demand, ...wanted });
    return check.ok ? "ok" : check.reason;
  };
  assert.equal(reason({}), "ok");
  assert.equal(reason({ now: now + halfHour }), "expired");
  assert.equal(reason({ verb: "ask" }), "verb_not_granted");
  assert.equal(reason({ task: "tsk_2" }), "wrong_task");
  assert.equal(reason({ attempt: 3 }), "wrong_attempt");
});

test("a token with any one bit changed fails", async () => {
  const tokens = await Promise.all(
    [grant, { ...grant, task: "t", verbs: ["ask"] } as const, { ...grant, task: "tsk_22", agent: "語" }].map((wanted) =>
      issueToken(wanted, key, { now }),
    ),
  );
  for (const { token } of tokens) {
    for (let at = 0; at < token.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = String.fromCharCode(token.charCodeAt(at) ^ (1 << bit));
        const check = await openToken(token.slice(0, at) + changed + token.slice(at + 1), key);
        assert.equal(check.ok, false, `byte ${at}, bit ${bit}`);
      }
    }
  }
});

test("a token with one character of the alphabet in place of another fails, at every place", async () => {
  const { token } = await issueToken(grant, key, { now });
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  // All of the signature, whose last character has bits to spare, and a spread of the payload.
  for (let at = token.length - 1; at > 3; at -= at > token.length - 44 ? 1 : 29) {
    for (const char of alphabet) {
      if (char === token[at]) continue;
      assert.equal((await openToken(token.slice(0, at) + char + token.slice(at + 1), key)).ok, false, `${at} ${char}`);
    }
  }
});

test("a token cut, extended, re-cased, re-padded or recombined fails", async () => {
  const { token } = await issueToken(grant, key, { now });
  const other = await issueToken({ ...grant, task: "tsk_2" }, key, { now });
  const edit = fc.oneof(
    fc.nat(token.length - 1).map((at) => token.slice(0, at)),
    fc.integer({ min: 1, max: token.length - 1 }).map((at) => token.slice(at)),
    fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).map((extra) => token + extra),
    fc.string({ unit: "binary", minLength: 1, maxLength: 8 }).map((extra) => extra + token),
    fc
      .tuple(fc.nat(token.length), fc.constantFrom("=", "A", ".", " ", "\n", "\0"))
      .map(([at, extra]) => token.slice(0, at) + extra + token.slice(at)),
    fc.nat(token.length - 1).map((at) => {
      const char = token[at] ?? "";
      const swapped = char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase();
      return token.slice(0, at) + swapped + token.slice(at + 1);
    }),
    fc.nat(token.length - 1).map((at) => token.slice(0, at) + token.slice(at + 1)),
    fc
      .nat(token.length - 2)
      .map((at) => token.slice(0, at) + (token[at + 1] ?? "") + (token[at] ?? "") + token.slice(at + 2)),
    fc.nat(token.length - 1).map((at) => token.slice(0, at) + other.token.slice(at)),
  );
  await fc.assert(
    fc.asyncProperty(
      edit.filter((edited) => edited !== token && edited !== other.token),
      async (edited) => {
        assert.equal((await openToken(edited, key)).ok, false);
      },
    ),
    { numRuns: 1500 },
  );
});

test("openToken never throws, whatever it is given", async () => {
  const part = fc.oneof(fc.string({ unit: "binary", maxLength: 60 }), fc.base64String({ maxLength: 60 }));
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
      const check = await openToken(["tt1", ...parts].join("."), key);
      assert.equal(check.ok, false);
    }),
    { numRuns: 500 },
  );
});

test("a signed payload with a second reading is refused", async () => {
  const json = JSON.stringify(claims);
  const readings = [
    ` ${json}`,
    json.replace(",", ", "),
    json.replace('"attempt":2', '"attempt":2.0'),
    json.replace('"attempt":2', '"attempt":1,"attempt":2'),
    json.replace("tsk_1", "\\u0074sk_1"),
    JSON.stringify({ ...claims, extra: 1 }),
    JSON.stringify(Object.fromEntries(Object.entries(claims).toReversed())),
    JSON.stringify({ ...claims, verbs: ["result", "prompt"] }),
    JSON.stringify({ ...claims, verbs: ["prompt", "prompt"] }),
    JSON.stringify({ ...claims, verbs: [] }),
    JSON.stringify({ ...claims, attempt: 0 }),
    "null",
    "",
  ];
  for (const payload of readings) assert.equal(await reasonOf(signByHand(payload)), "malformed", payload);
  assert.equal(await reasonOf(signByHand(json)), "ok");
});

test("another version, and a signature over the payload alone, are refused", async () => {
  const json = JSON.stringify(claims);
  assert.equal(await reasonOf(signByHand(json, { prefix: "tt2" })), "malformed");
  const payload = Buffer.from(json).toString("base64url");
  const short = createHmac("sha256", raw).update(payload).digest("base64url");
  assert.equal(await reasonOf(`tt1.${payload}.${short}`), "bad_signature");
});

test("a text past the size limit is malformed, whoever signed it", async () => {
  const long = signByHand(JSON.stringify({ ...claims, task: "t".repeat(maxTokenLength) }));
  assert.equal(await reasonOf(long), "malformed");
});

test("what must not be granted cannot be issued", async () => {
  const refused = async (wanted: Partial<TokenGrant>, life?: number): Promise<void> => {
    await assert.rejects(issueToken({ ...grant, ...wanted }, key, { now, life }), (thrown) => {
      return thrown instanceof TuttiError && thrown.code === "invalid_input";
    });
  };
  await refused({ verbs: [] });
  await refused({ task: "" });
  await refused({ task: "  " });
  await refused({ task: "a\nb" });
  await refused({ task: "\ud800" });
  await refused({ task: "t".repeat(257) });
  await refused({ agent: "" });
  for (const attempt of [0, -1, 1.5, Number.NaN, 2 ** 32]) await refused({ attempt });
  for (const life of [0, -1, Number.NaN, Infinity, 24 * 60 * 60 * 1000 + 1]) await refused({}, life);
});

test("a renewed token has the same grant and a new expiry, and the old one keeps its own", async () => {
  const { token } = await issueToken(grant, key, { now });
  const later = now + halfHour - 1;
  const renewed = await renewToken(token, key, { ...demand, now: later });
  assert.ok(renewed.ok);
  assert.notEqual(renewed.token, token);
  assert.deepEqual(renewed.claims, { ...claims, expires_at: later + halfHour, nonce: renewed.claims.nonce });
  assert.equal(await reasonOf(renewed.token, { now: now + halfHour }), "ok");
  assert.equal(await reasonOf(token, { now: now + halfHour }), "expired");
});

test("only a token that still passes for this attempt is renewed", async () => {
  const { token } = await issueToken(grant, key, { now });
  const reason = async (wanted: Partial<TokenDemand>, text = token): Promise<string> => {
    const renewed = await renewToken(text, key, { ...demand, ...wanted });
    return renewed.ok ? "ok" : renewed.reason;
  };
  assert.equal(await reason({ attempt: 3 }), "wrong_attempt");
  assert.equal(await reason({ task: "tsk_2" }), "wrong_task");
  assert.equal(await reason({ verb: "ask" }), "verb_not_granted");
  assert.equal(await reason({ now: now + halfHour }), "expired");
  assert.equal(await reason({}, token.slice(0, -1)), "malformed");
  assert.equal(await reason({}), "ok");
});

test("a key has at least 32 bytes and cannot be read back", async () => {
  await assert.rejects(importKey(new Uint8Array(31)), { code: "invalid_input" });
  assert.equal(generateKey().length, 32);
  assert.notDeepEqual(generateKey(), generateKey());
  assert.equal(key.extractable, false);
});
