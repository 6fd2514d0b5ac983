import assert from "node:assert/strict";
import { test } from "node:test";

import { redactor } from "../../core/redaction/redact.ts";
import { ModelsConfig } from "../../model/models-config.ts";
import { collectSecrets } from "./collect-secrets.ts";

const models = ModelsConfig.parse({});

function valuesIn(env: Record<string, string>, more: Partial<Parameters<typeof collectSecrets>[0]> = {}): string[] {
  return collectSecrets({ env, models, ...more }).map(({ value }) => value);
}

test("keys of providers are secrets under the names the models config uses, and so are keys in headers", () => {
  const config = ModelsConfig.parse({
    providers: {
      mine: { kind: "openai-compatible", base_url: "http://gpu:1/v1", key_env: "GPU_HOUSE" },
      theirs: {
        kind: "openai-compatible",
        base_url: "http://gpu:2/v1",
        headers: { "x-api-key": "k-77777777", via: "gateway-1" },
      },
      broken: { base_url: "http://gpu:3/v1" },
    },
  });
  const env = { GPU_HOUSE: " plainwords ", ANTHROPIC_API_KEY: "sk-ant-1", GEMINI_API_KEY: "AIza123" };
  const values = valuesIn(env, { models: config });
  for (const value of ["plainwords", "sk-ant-1", "AIza123", "k-77777777"]) assert.ok(values.includes(value), value);
  assert.ok(!values.includes("gateway-1"));
});

test("a variable with a telling name is secret, whatever the style of the name", () => {
  const env = {
    GITHUB_TOKEN: "ghp_12345678",
    AWS_SECRET_ACCESS_KEY: "wJalrXUtnFEMI/K7MDENG",
    PGPASSWORD: "correct-horse",
    npm_config__authToken: "npm_abc12345",
    DB_PASSWORD: "hunterhunter",
    SIGNING_PASSPHRASE: "open-sesame",
    SENTRY_DSN: "https://abc123@o1.ingest.sentry.io/1",
    VAULT_PASSWORD: "12345678",
    SESSION_COOKIE: "sid=aaaa1111",
    "client-secret": "s3cr3tvalue",
  };
  const values = valuesIn(env);
  for (const value of Object.values(env)) assert.ok(values.includes(value), value);
});

test("paths, switches, settings, addresses and the user's name are not secrets", () => {
  const env = {
    USER: "mastermind9",
    SSH_AUTH_SOCK: "/run/user/1000/keyring/ssh",
    SSL_KEY_PATH: "./certs/server.key",
    KEY_DIRS: "/etc/keys:/opt/keys",
    AUTH_ENABLED: "true",
    AUTH_USER: "mastermind9",
    AUTH_TYPE: "assistant",
    TOKEN_LIMIT: "128000000",
    AUTH_HOST: "10.20.30.40:8080",
    AUTH_SERVER: "auth.example:8443",
    KEY_VERSION: "2026-01-02",
    TOKEN_URL: "https://login.example.com/token",
    AUTHOR: "someone-77777",
    KEYBOARD: "pc105-77777",
    MONKEYS: "twelve-12345",
    PWD: "/home/mastermind9",
  };
  assert.deepEqual(valuesIn(env), []);
});

test("a password that is a word of our own records is not redacted", () => {
  const values = valuesIn({ DB_PASSWORD: "assistant", OTHER_PASSWORD: "tool_result", REAL_PASSWORD: "bananasplit" });
  assert.deepEqual(values, ["bananasplit"]);
});

test("the password in an address is a secret in any variable, as written and as meant", () => {
  const values = valuesIn({ DATABASE_URL: "postgres://app:p%40ss-w0rd@db:5432/x", NOTE: "no://user@host here" });
  assert.deepEqual(values, ["p%40ss-w0rd", "p@ss-w0rd"]);
});

test("parts of a secret that are secret alone are found alone", () => {
  const line = "MIIEvQIBADANBgkqhkiG9w0BAQ";
  const pem = `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----`;
  const account = JSON.stringify({ type: "service_account", private_key: pem, client_email: "a@b.example" });
  const secrets = collectSecrets({
    env: { TLS_PRIVATE_KEY: pem, GOOGLE_CREDENTIALS: account, API_AUTH: "Bearer abcdef-123456" },
    models,
    own: [{ name: "admin key", value: `tk_${"a".repeat(43)}` }],
    variables: [],
  });
  const redact = redactor(secrets);
  assert.equal(redact(`seen: ${line}`), "seen: [redacted:TLS_PRIVATE_KEY]");
  assert.equal(redact("curl -H abcdef-123456"), "curl -H [redacted:API_AUTH]");
  assert.equal(redact(account), account.replace(JSON.stringify(pem), '"[redacted:TLS_PRIVATE_KEY]"'));
  assert.equal(redact("a@b.example service_account"), "a@b.example service_account");
  assert.equal(redact(`tk_${"a".repeat(43)}`), "[redacted:admin key]");
});

test("a variable the config names is a secret whatever it is called", () => {
  assert.deepEqual(valuesIn({ HOOK: "plainword" }, { variables: ["HOOK"] }), ["plainword"]);
});
