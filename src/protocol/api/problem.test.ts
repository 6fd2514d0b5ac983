import assert from "node:assert/strict";
import { test } from "node:test";
import { TuttiError } from "../error.ts";
import { errorIn, Problem, problemOf } from "./problem.ts";

test("a problem has the status, the verdict and the details of its error", () => {
  const error = new TuttiError("not_found", "there is no task tsk_1", { details: { task: "tsk_1" } });
  const problem = {
    type: "about:blank",
    title: "not found",
    status: 404,
    detail: "there is no task tsk_1",
    code: "not_found",
    retry: "never",
    details: { task: "tsk_1" },
  };
  assert.deepEqual(problemOf(error), problem);
  assert.deepEqual(Problem.parse(problem), problem);
});

test("the status can be another, and extra members cannot replace those of the problem", () => {
  const problem = problemOf(new TuttiError("usage", "no"), {
    status: 415,
    extra: { error: "no_bearer", code: "fine" },
  });
  assert.deepEqual([problem.status, problem["error"], problem.code], [415, "no_bearer", "usage"]);
});

test("an internal error tells the caller nothing but that there was one", () => {
  const problem = problemOf(new TuttiError("internal", "secret path /home/ada", { details: { path: "/home/ada" } }));
  assert.doesNotMatch(JSON.stringify(problem), /ada/);
  assert.equal(problem.status, 500);
});

test("an error comes back from its problem as it was", () => {
  const error = new TuttiError("busy", "try later", { details: { seconds: 3 } });
  const back = errorIn(problemOf(error));
  assert.deepEqual([back.code, back.message, back.retry, back.details], ["busy", "try later", "safe", { seconds: 3 }]);
});

test("a code of a newer service is read by its status", () => {
  const problem = { ...problemOf(new TuttiError("usage", "no")), code: "quota_of_tomorrow" };
  assert.equal(errorIn(problem).code, "refused");
  assert.equal(errorIn({ ...problem, status: 503 }).code, "internal");
  assert.equal(errorIn({ ...problem, code: "toString" }).code, "refused");
});
