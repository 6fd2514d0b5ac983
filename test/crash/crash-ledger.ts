// Files outside the state folder in which the crash test records every effect and every acknowledgement, synced to disk.

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

export interface Ledger {
  write(line: readonly unknown[]): void;
  close(): void;
}

export const ledgerNames = ["effects", "acks"] as const;
export type LedgerName = (typeof ledgerNames)[number];

const fileOf = (folder: string, name: LedgerName): string => join(folder, `${name}.jsonl`);

/** One line is one write to a file opened for appending, so a kill leaves whole lines or none. */
export function openLedger(folder: string, name: LedgerName): Ledger {
  const file = openSync(fileOf(folder, name), "a");
  return {
    write(line) {
      writeSync(file, `${JSON.stringify(line)}\n`);
      fsyncSync(file);
    },
    close: () => closeSync(file),
  };
}

export function readLedger(folder: string, name: LedgerName): string[][] {
  const file = fileOf(folder, name);
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.endsWith("]"))
    .map((line): string[] => JSON.parse(line));
}
