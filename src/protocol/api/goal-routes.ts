// The routes of goals: hand one over, see how it stands, read its report, and say something to its manager.

import { GoalReport } from "../task/goal-report.ts";
import * as shapes from "./goal-shapes.ts";
import { jsonBody, jsonReply, route } from "./route-shape.ts";
import { IdempotencyHeaders, Told } from "./task-shapes.ts";

export const goalRoutes = {
  startGoal: route({
    method: "POST",
    path: "/v1/goals",
    tag: "goals",
    about: "Hand a goal to the manager; 200 instead of 201 if the same goal is under way already",
    access: "operator",
    query: shapes.StartGoalQuery,
    headers: IdempotencyHeaders,
    body: jsonBody(shapes.StartGoal),
    reply: { type: "json", status: 201, schema: shapes.StartedGoal, also: [200] },
    refuses: [409],
  }),
  listGoals: route({
    method: "GET",
    path: "/v1/goals",
    tag: "goals",
    about: "Goals, newest first, in pages",
    access: "viewer",
    query: shapes.GoalListQuery,
    reply: jsonReply(shapes.GoalPage),
  }),
  goal: route({
    method: "GET",
    path: "/v1/goals/{goal}",
    tag: "goals",
    about: "A goal: its criteria, its plan, its tasks with their evidence, and what is missing",
    access: "viewer",
    params: shapes.GoalParams,
    reply: jsonReply(shapes.GoalView),
    refuses: [404],
  }),
  goalReport: route({
    method: "GET",
    path: "/v1/goals/{goal}/report",
    tag: "goals",
    about: "The report of a goal as it stands: each criterion and each task with what proves it, and the cost",
    access: "viewer",
    params: shapes.GoalParams,
    reply: jsonReply(GoalReport),
    refuses: [404],
  }),
  tellGoal: route({
    method: "POST",
    path: "/v1/goals/{goal}/messages",
    tag: "goals",
    about:
      "Say something to the manager of a goal that is under way; `stop` ends the goal, `stop NAME` one of its tasks",
    access: "operator",
    params: shapes.GoalParams,
    body: jsonBody(shapes.TellGoal),
    reply: jsonReply(Told),
    refuses: [404, 409],
  }),
};
