// The names of the rehearsal among models: the one that answers when no model is set up, and how to recognise one.

export const rehearsalModelName = "rehearsal/script";

/** `name` is `provider/model` with aliases resolved. */
export function isRehearsalName(name: string): boolean {
  return name.startsWith("rehearsal/");
}
