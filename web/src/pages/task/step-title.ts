// Says in words what a step did, from the key that it was recorded under. The key itself is shown when the pointer rests on it.

const titles: readonly (readonly [RegExp, string])[] = [
  [/^model:(\d+)/, "Model call"],
  [/^tool:(\d+)\.(\d+)\.look$/, "Look at what a call may do"],
  [/^tool:(\d+)\.(\d+)$/, "Tool call"],
  [/^workspace$/, "Workspace made ready"],
  [/^surroundings$/, "Surroundings looked at"],
  [/^saved$/, "Work saved"],
  [/\.verify$/, "Work verified"],
  [/\.check\d*\.known$/, "Checks looked up"],
  [/^review/, "Review"],
];

/** The key where nothing more is known. Turns are counted from 1. */
export function stepTitle(key: string): string {
  const found = titles.find(([pattern]) => pattern.test(key));
  if (found === undefined) return key;
  const turn = /^(?:model|tool):(\d+)/.exec(key)?.[1];
  return turn === undefined ? found[1] : `${found[1]}, turn ${Number(turn) + 1}`;
}
