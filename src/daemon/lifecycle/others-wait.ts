// Remembers that a process ended while others waited for its work, so that the next one does not leave them alone either.

import type { State } from "../state/state.ts";

const setting = "others_wait";

export function othersWait({ own }: State): boolean {
  return (own.setting(setting) ?? "") !== "";
}

export function setOthersWait(state: State, wait: boolean): void {
  if (othersWait(state) !== wait) state.own.putSetting(setting, wait ? "yes" : "");
}
