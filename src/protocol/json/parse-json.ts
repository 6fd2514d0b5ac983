// Parses JSON text from outside.

/** Returns undefined if the text is not JSON, which no schema of an object or an array accepts. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
