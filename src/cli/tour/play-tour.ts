// Plays the tour: one goal from its first word to its report, with a script in place of a model and everything else real.
import type { Tutti } from "../../client/client.ts";
import { reportLines } from "../../core/render-report.ts";
import { errorTable, TuttiError } from "../../protocol/error.ts";
import type { GoalReport } from "../../protocol/task/goal-report.ts";
import { warn } from "../terminal/output.ts";
import { writeJson, writeLine } from "../terminal/screen.ts";
import { bold, dim } from "../terminal/style.ts";
import { isTourRepository, makeTourRepository, removeTourRepository } from "./tour-repository.ts";
import { showStillAtIt } from "./still-at-it.ts";
import { tourAnswerer } from "./tour-answers.ts";
import { introduction, nextSteps, type TourOptions } from "./tour-texts.ts";
import { tourCheck, tourCriterion, tourGoal, tourManager, tourPolicy, tourScript } from "./tour-script.ts";
import { tourStory } from "./tour-story.ts";

/** Sets the exit status of the process by the outcome. The repository stays for the person to look at. */
export async function playTour(tutti: Tutti, options: TourOptions): Promise<void> {
  await removeEarlierTours(tutti);
  const folder = await makeTourRepository();
  const say = options.json === true ? async () => undefined : writeLine;
  for (const line of introduction(folder)) await say(line);
  const report = await runGoal(tutti, folder, say);
  if (options.json === true) await writeJson(report);
  else {
    const lines = ["", bold("The report"), "", ...reportLines(report), ...nextSteps(report, folder, options)];
    for (const line of lines) await writeLine(line);
  }
  if (report.status !== "done") process.exitCode = errorTable.task_failed.exit;
}

async function runGoal(tutti: Tutti, folder: string, say: typeof writeLine): Promise<GoalReport> {
  const answerer = await tourAnswerer(tutti);
  const stillAtIt = say === writeLine ? showStillAtIt({ timeWidth, nameWidth }) : undefined;
  try {
    const { goal, task } = await tutti.startGoal(
      {
        text: tourGoal,
        folder,
        accept: [tourCriterion],
        checks: [tourCheck],
        manager_model: tourManager,
        policy: tourPolicy,
        script: tourScript,
      },
      { anew: true },
    );
    const story = tourStory();
    const began = performance.now();
    const line: typeof writeLine = (text, options) => {
      stillAtIt?.clear();
      return say(text, options);
    };
    for await (const item of tutti.follow({ task })) {
      if (!("event" in item)) continue;
      const { event } = item;
      const seconds = ((performance.now() - began) / 1_000).toFixed(1) + " s";
      const { lines, atIt } = story(event);
      for (const { who, text } of lines) {
        const [first = "", ...rest] = text.split("\n");
        const time = `${" ".repeat(Math.max(0, timeWidth - seconds.length))}${dim(seconds)}`;
        // The indentation of the line counts already.
        const hang = textColumn - Math.max(0, timeWidth - seconds.length);
        await line(`${time}  ${bold(who.padEnd(nameWidth))}  ${first}`, { hang });
        for (const each of rest) await line(`${" ".repeat(textColumn)}${each.trim()}`);
      }
      if (atIt !== undefined) stillAtIt?.set(atIt.who, atIt.text);
      if (event.type === "ask.raised") await answerer.answer(event.data.ask);
    }
    return await tutti.goalReport(goal);
  } finally {
    stillAtIt?.stop();
    // A tour that was interrupted cannot reach the daemon any more.
    await answerer.close().catch(() => undefined);
  }
}

const nameWidth = "discount".length;
const timeWidth = "99.9 s".length;
const textColumn = timeWidth + nameWidth + 4;

/** An earlier tour that was interrupted would go on beside this one. A folder that cannot be removed is only told. */
async function removeEarlierTours(tutti: Tutti): Promise<void> {
  const { goals } = await tutti.goals({ limit: 50 });
  for (const { goal, task, text, status } of goals) {
    if (text !== tourGoal) continue;
    const [folder = ""] = (await tutti.goal(goal)).roots;
    if (!(await isTourRepository(folder))) continue;
    try {
      if (!["done", "failed", "abandoned"].includes(status)) await tutti.cancel(task, "another tour begins");
      await removeWorkspaces(tutti, folder);
      await removeTourRepository(folder);
    } catch (thrown) {
      if (!(thrown instanceof TuttiError)) throw thrown;
      warn(`${folder} of an earlier tour is left: ${thrown.message}`);
    }
  }
}

async function removeWorkspaces(tutti: Tutti, folder: string): Promise<void> {
  const { workspaces } = await tutti.workspaces();
  for (const { id, project, state } of workspaces) {
    if (project !== folder || state === "removed") continue;
    await tutti.removeWorkspace(id, { uncommitted: "discard" });
  }
}
