// The settings of a config as indented lines of words: every value is shown, and none can look like another row.
import { argvLine } from "../../protocol/argv-line.ts";

/** What is empty sets nothing and has no row. The result is empty when nothing is set. */
export function settingLines(value: unknown): string[] {
  if (Array.isArray(value)) {
    if (value.length > 0 && value.every((each) => typeof each === "string")) return [argvLine(value)];
    return value.flatMap((each) => {
      const [first, ...rest] = settingLines(each);
      return first === undefined ? [] : [`- ${first}`, ...rest.map((line) => `  ${line}`)];
    });
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, each]) => {
      const lines = settingLines(each);
      const [only, ...more] = lines;
      if (only === undefined) return [];
      const isNested = more.length > 0 || (isGroup(each) && !isWords(each));
      return isNested ? [word(key), ...lines.map((line) => `  ${line}`)] : [`${word(key)}: ${only}`];
    });
  }
  return [typeof value === "string" ? text(value) : String(JSON.stringify(value))];
}

function isGroup(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Quoted as soon as it could be read as more than one value, or as none. */
function text(value: string): string {
  return /^[^\s"'{}[\]:,](?:[^\n\r"{}[\],]*[^\s"{}[\]:,])?$/.test(value) && !value.includes(": ")
    ? value
    : JSON.stringify(value);
}

function word(key: string): string {
  return /^[\w.*/@-]+$/.test(key) ? key : JSON.stringify(key);
}
