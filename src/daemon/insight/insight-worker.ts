// The thread that keeps the index and answers from it, so that neither makes the tasks wait.

import { parentPort, workerData } from "node:worker_threads";

import type { InsightBatch } from "./insight-batch.ts";
import { type InsightDatabase, openInsightDatabase } from "./insight-database.ts";
import * as queries from "./insight-queries.ts";

export interface InsightWorkerData {
  readonly folder: string;
  readonly salt: string;
  readonly last: number;
}

export type InsightCall =
  | { readonly kind: "position" }
  | { readonly kind: "apply"; readonly batch: InsightBatch }
  | { readonly kind: "search"; readonly question: queries.SearchQuestion }
  | { readonly kind: "board"; readonly question: queries.BoardQuestion }
  | { readonly kind: "series"; readonly question: queries.SeriesQuestion }
  | { readonly kind: "tasks"; readonly question: queries.TasksQuestion }
  | { readonly kind: "evidence"; readonly id: string }
  | { readonly kind: "errors"; readonly from: number };

export type InsightAnswer =
  | { readonly kind: "position"; readonly position: number }
  | { readonly kind: "search"; readonly found: queries.FoundText[] }
  | { readonly kind: "board"; readonly board: ReturnType<typeof queries.boardOf> }
  | { readonly kind: "series"; readonly points: queries.SeriesRow[] }
  | { readonly kind: "tasks"; readonly tasks: queries.TaskRow[] }
  | { readonly kind: "evidence"; readonly at: number | undefined }
  | { readonly kind: "errors"; readonly errors: queries.ErrorCount[] }
  | { readonly kind: "failed"; readonly message: string };

/** In the order in which they are asked, so an answer belongs to the oldest open call. */
function answer(index: InsightDatabase, call: InsightCall): InsightAnswer {
  const { database } = index;
  switch (call.kind) {
    case "position":
      return { kind: "position", position: index.position() };
    case "apply":
      index.apply(call.batch);
      return { kind: "position", position: call.batch.upTo };
    case "search":
      return { kind: "search", found: queries.searchTexts(database, call.question) };
    case "board":
      return { kind: "board", board: queries.boardOf(database, call.question) };
    case "series":
      return { kind: "series", points: queries.seriesOf(database, call.question) };
    case "tasks":
      return { kind: "tasks", tasks: queries.tasksBy(database, call.question) };
    case "evidence":
      return { kind: "evidence", at: queries.evidenceAt(database, call.id) };
    case "errors":
      return { kind: "errors", errors: queries.errorsSince(database, call.from) };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const { folder, salt, last }: InsightWorkerData = workerData;
  const index = openInsightDatabase(folder, { salt, last });
  port.on("message", (call: InsightCall | "close") => {
    if (call === "close") {
      index.close();
      port.close();
      return;
    }
    try {
      port.postMessage(answer(index, call));
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      port.postMessage({ kind: "failed", message } satisfies InsightAnswer);
    }
  });
}
