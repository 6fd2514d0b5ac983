// Control statements of a review: one about the change that is true, and one that is made up. Who calls both true has not looked.

export interface ControlStatement {
  readonly id: string;
  readonly text: string;
  readonly holds: boolean;
}

/** None where the files of the change are not known. `seed`: 16 hexadecimal digits that nobody could know before. */
export function controlStatements(changed: readonly string[] | undefined, seed: string): ControlStatement[] {
  const digits = (from: number, to: number): number => Number.parseInt(seed.slice(from, to), 16);
  const real = changed?.[digits(0, 4) % changed.length];
  if (changed === undefined || real === undefined) return [];
  const number = digits(4, 8);
  const both = [
    statement(number, real, true),
    statement(number ^ 0x2b3c, besideIt(real, changed, seed.slice(8, 14)), false),
  ];
  return digits(14, 16) % 2 === 0 ? both : both.toReversed();
}

function statement(number: number, path: string, holds: boolean): ControlStatement {
  const id = `s${number.toString(16).padStart(4, "0")}`;
  return { id, text: `the change touches the file ${JSON.stringify(path)}`, holds };
}

/** A path that looks like the others of the change and is none of them. */
function besideIt(real: string, changed: readonly string[], word: string): string {
  const folder = real.slice(0, real.lastIndexOf("/") + 1);
  const ending = /\.[^./]+$/.exec(real)?.[0] ?? "";
  const path = `${folder}part-${word}${ending}`;
  return changed.includes(path) ? `${path}.${word}` : path;
}
