// Writes a reason as a sentence, so that it can stand behind another one.

export function asSentence(reason: string): string {
  const text = reason.trim();
  if (text === "") return "";
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.!?:…]$/.test(text) ? "" : "."}`;
}
