import assert from "node:assert/strict";
import { test } from "node:test";
import { secretForms } from "./secret-forms.ts";

const secret = 'p4ss "wörd"/*<key>*\'\n';

test("the value itself is the first form, and no form is there twice", () => {
  const forms = secretForms(secret);
  assert.equal(forms[0], secret);
  assert.equal(new Set(forms).size, forms.length);
});

test("a secret is in its forms however often JSON wraps it, up to three times", () => {
  const forms = secretForms(secret);
  let text: unknown = { token: secret };
  for (let level = 1; level <= 3; level += 1) {
    const json = JSON.stringify(text);
    assert.ok(
      forms.some((form) => json.includes(form)),
      json,
    );
    text = { inner: json };
  }
});

test("a secret is in its forms in base64 of either alphabet, at any offset", () => {
  const forms = secretForms(secret).slice(1);
  for (const before of ["", "a", "ab", "abc", "user:"]) {
    for (const alphabet of ["base64", "base64url"] as const) {
      const encoded = Buffer.from(`${before}${secret}!`).toString(alphabet);
      assert.ok(
        forms.some((form) => form.length > 20 && encoded.includes(form)),
        encoded,
      );
    }
  }
});

test("a secret is in its forms as URLs write it", () => {
  const forms = secretForms(secret);
  const strict = encodeURIComponent(secret).replaceAll("*", "%2A").replaceAll("'", "%27");
  for (const written of [encodeURIComponent(secret), strict, strict.replaceAll("%20", "+"), strict.toLowerCase()]) {
    assert.ok(
      forms.some((form) => written.includes(form)),
      written,
    );
  }
});
