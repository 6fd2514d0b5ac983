// Shows how many rows were moved while that goes on: one line on a terminal that changes, and otherwise a line now and then.

import { standardError } from "./screen.ts";

const everyMs = 5_000;

export interface MovedRows {
  tell(progress: { readonly rows: number; readonly of: number }): void;
  /** Takes the line away. */
  end(): void;
}

export function showMovedRows(): MovedRows {
  const isTerminal = standardError.isTerminal;
  let [toldAt, lines] = [performance.now(), 0];
  return {
    tell({ rows, of }) {
      const now = performance.now();
      if (now - toldAt < (isTerminal ? 100 : everyMs)) return;
      toldAt = now;
      standardError.eraseLines(lines);
      lines = isTerminal ? 1 : 0;
      standardError.write(`${rows} of ${of} rows\n`);
    },
    end() {
      standardError.eraseLines(lines);
      lines = 0;
    },
  };
}
