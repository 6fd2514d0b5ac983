import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { type RouteName, routes } from "../../protocol/api/routes.ts";
import { createRouter } from "./router.ts";

const router = createRouter(routes);
const names = Object.keys(routes).filter((name): name is RouteName => Object.hasOwn(routes, name));
const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, "x1");

function statusOf(method: string, path: string): number | "found" | "allow" {
  const found = router.find(method, path);
  if ("error" in found) return found.error.status ?? (found.error.cause.code === "not_found" ? 404 : 400);
  return "allow" in found ? "allow" : "found";
}

test("every route is found by its method and path, and HEAD finds what GET finds", () => {
  for (const name of names) {
    const { method, path } = routes[name];
    const found = router.find(method, filled(path));
    assert.ok("route" in found && found.route === name, name);
    if (method === "GET") assert.equal(statusOf("HEAD", filled(path)), "found");
  }
});

test("a known path lists its methods when it refuses another one, and for OPTIONS", () => {
  for (const method of ["PUT", "PATCH", "TRACE", "get", "PROPFIND", ""]) {
    const found = router.find(method, "/v1/keys");
    assert.ok("error" in found, method);
    assert.equal(found.error.status, 405);
    assert.deepEqual(found.error.headers, ["Allow", "OPTIONS, GET, HEAD, POST"]);
  }
  assert.deepEqual(router.find("OPTIONS", "/v1/tasks/tsk_1/cancel"), { allow: "OPTIONS, POST" });
});

test("paths are not normalised: extra slashes, dot segments, encoded or upper-case names are not found", () => {
  for (const path of [
    "",
    "/",
    "//",
    "/v1",
    "/v1/",
    "/v1/tasks/",
    "//v1/tasks",
    "/v1//tasks",
    "/v1/tasks/tsk_1/",
    "/v1/./tasks",
    "/v1/x/../tasks",
    "/v1/%74asks",
    "/V1/tasks",
    "/v1/tasks;x=1",
    "/v1/tasks/..",
    "/v1/tasks/%2e%2e",
    "/v1/tasks/%00",
    "/healthz/",
    "/v1/tasks/tsk_1/tree/x",
    "/v1/tasks//tree",
    "v1/tasks",
    "*",
    "\\v1\\tasks",
  ])
    assert.equal(statusOf("GET", path), 404, path);
});

test("a parameter is decoded once, and a bad encoding is refused", () => {
  const found = router.find("GET", "/v1/agents/a%20b%2Fc%2525");
  assert.ok("route" in found);
  assert.deepEqual(found.params, { name: "a b/c%25" });
  for (const bad of ["%", "%2", "%zz", "%ff", "%c0%ae", "%ed%a0%80"]) {
    assert.equal(statusOf("GET", `/v1/agents/${bad}`), 400, bad);
  }
});

test("no path makes the router throw or return an empty parameter", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("GET", "POST", "DELETE"),
      fc.array(fc.constantFrom("v1", "tasks", "tsk_1", "", ".", "..", "%2f", "%", "operators", "ws"), { maxLength: 6 }),
      (method, parts) => {
        const found = router.find(method, `/${parts.join("/")}`);
        if ("route" in found)
          for (const value of Object.values(found.params ?? {})) assert.ok(!["", ".", ".."].includes(value));
      },
    ),
    { numRuns: 500 },
  );
});
