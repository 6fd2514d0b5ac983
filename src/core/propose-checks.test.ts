import assert from "node:assert/strict";
import { test } from "node:test";

import { withoutComments } from "../protocol/json/json-with-comments.ts";
import { projectConfigText } from "./project-config-text.ts";
import { proposeChecks, type ProposedSetup } from "./propose-checks.ts";

const propose = (files: Record<string, string>): ProposedSetup => proposeChecks((name) => files[name]);
/** What is proposed; in brackets what there is a doubt about. */
const shown = (files: Record<string, string>): string[] => {
  const { checks, setup } = propose(files);
  return [
    ...checks.map((check) => ({ ...check, name: `${check.name}:` })),
    ...setup.map((step) => ({ ...step, name: "setup:" })),
  ].map(({ name, run, doubt }) => (doubt === undefined ? `${name} ${run.join(" ")}` : `(${name} ${run.join(" ")})`));
};
const scripts = (given: object): string => JSON.stringify({ scripts: given });

test("the scripts of package.json are checks, run by the manager whose lock file is there", () => {
  const file = scripts({ test: "node --test", lint: "eslint --fix .", "type-check": "tsc", start: "x" });
  assert.deepEqual(shown({ "package.json": file, "package-lock.json": "{}" }), [
    "test: npm test",
    "(lint: npm run lint)",
    "typecheck: npm run type-check",
    "setup: npm ci",
  ]);
  assert.deepEqual(shown({ "package.json": scripts({ test: "bun test" }), "bun.lock": "" }), [
    "test: bun run test",
    "setup: bun install --frozen-lockfile",
  ]);
  assert.deepEqual(shown({ "package.json": scripts({ test: "x" }), "yarn.lock": "# yarn lockfile v1" }), [
    "test: yarn test",
    "setup: yarn install --frozen-lockfile",
  ]);
});

test("a script that is no check is left out, or there is a doubt about it", () => {
  assert.deepEqual(shown({ "package.json": scripts({ test: 'echo "Error: no test specified" && exit 1' }) }), []);
  assert.deepEqual(shown({ "package.json": scripts({ test: "jest --watch" }) }), ["(test: npm test)"]);
  assert.deepEqual(shown({ "package.json": "no JSON" }), []);
  assert.deepEqual(shown({ "package.json": '{"scripts": 5}' }), []);
});

test("Python, Rust, Go and make are known by their files", () => {
  const pyproject = "[tool.pytest.ini_options]\n[tool.ruff]\n";
  assert.deepEqual(shown({ "pyproject.toml": pyproject, "uv.lock": "" }), [
    "test: uv run pytest",
    "lint: uv run ruff check .",
    "setup: uv sync --frozen",
  ]);
  assert.deepEqual(shown({ "requirements.txt": "requests" }), [
    "(test: python3 -m unittest)",
    "(setup: python3 -m pip install -r requirements.txt)",
  ]);
  assert.deepEqual(shown({ "Cargo.toml": "", "Cargo.lock": "" }), [
    "test: cargo test",
    "(lint: cargo clippy -- -D warnings)",
    "setup: cargo fetch --locked",
  ]);
  assert.deepEqual(shown({ "go.mod": "" }), ["test: go test ./...", "lint: go vet ./..."]);
  assert.deepEqual(shown({ Makefile: "test := 1\nlint: a\n\tx\ncheck:\n" }), ["lint: make lint"]);
  assert.deepEqual(shown({ Makefile: "test:\n", "go.mod": "" }).at(-1), "(test (Makefile): make test)");
});

test("the config has the proposals, doubtful ones as comments, and is JSON without its comments", () => {
  const proposed = propose({
    "package.json": scripts({ test: "x", lint: "x --fix" }),
    "package-lock.json": "",
    Makefile: "test:\n",
  });
  const providers = [{ name: "lmstudio", base_url: "http://127.0.0.1:1234/v1" }];
  const text = projectConfigText(proposed, { standard: "lmstudio/m", providers, needed: true });
  assert.match(
    text,
    /^ {4}\/\/ From package\.json, but the script seems to change files\.\n {4}\/\/ \{ "name": "lint"/m,
  );
  assert.deepEqual(JSON.parse(withoutComments(text)), {
    checks: [{ name: "test", run: ["npm", "test"] }],
    workspaces: {
      setup: [{ command: ["npm", "ci"], network: true, lock: ["package-lock.json"], makes: ["node_modules"] }],
    },
    models: {
      default: "lmstudio/m",
      providers: { lmstudio: { kind: "openai-compatible", base_url: "http://127.0.0.1:1234/v1", key_env: null } },
    },
  });
  const empty = projectConfigText(propose({}), { standard: undefined, providers: [], needed: false });
  assert.deepEqual(JSON.parse(withoutComments(empty)), { checks: [], workspaces: { setup: [] } });
});
