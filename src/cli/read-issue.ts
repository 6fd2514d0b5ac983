// Reads an issue with the person's own `gh`, so that a goal can be made from it. Its text is data and gives no orders.
import { z } from "zod";

import { TuttiError } from "../protocol/error.ts";
import { GoalIssue, IssueUrl } from "../protocol/invocation/goal-file.ts";
import { parseJson } from "../protocol/json/parse-json.ts";
import { runHere } from "./run-program-here.ts";

const longestTitle = 1_000;
const longestBody = 20_000;

const Shown = z.object({ title: z.string(), body: z.string() });

export async function readIssue(given: string, folder: string): Promise<GoalIssue> {
  const url = IssueUrl.safeParse(given);
  if (!url.success) {
    throw new TuttiError(
      "usage",
      `${given} is not the address of an issue, such as https://github.com/owner/name/issues/7`,
    );
  }
  const { code, out, err } = await runHere(["gh", "issue", "view", url.data, "--json", "title,body"], folder);
  if (code !== 0) {
    throw new TuttiError("not_found", `gh could not read ${url.data}: ${err.trim() || `it ended with status ${code}`}`);
  }
  const shown = Shown.safeParse(parseJson(out));
  if (!shown.success) throw new TuttiError("io", `what gh printed about ${url.data} cannot be read`);
  const { title, body } = shown.data;
  return GoalIssue.parse({ url: url.data, title: title.slice(0, longestTitle), body: body.slice(0, longestBody) });
}
