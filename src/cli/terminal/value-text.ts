// Values of any kind as text: strings as they are, errors by their message, everything else as JSON.

export function valueText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** What a task ended with. A failed task ends with an error, of which people need the message. */
export function resultText(content: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  if (typeof content === "string") return content;
  if (typeof content === "object" && content !== null && "message" in content && "code" in content) {
    return String(content.message);
  }
  return JSON.stringify(content, null, indent) ?? "";
}
