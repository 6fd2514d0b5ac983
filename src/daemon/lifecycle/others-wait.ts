// Remembers that a process ended while others waited for its work, so that the next one does not leave them alone either.

import type { State } from "../state/state.ts";

const setting = "others_wait";

export function othersWait({ records }: State): boolean {
  return (records.setting(setting) ?? "") !== "";
}

export function setOthersWait(state: State, wait: boolean): void {
  if (othersWait(state) !== wait) state.records.putSetting(setting, wait ? "yes" : "");
}
