// Splits what a person typed into the words of a command. Quotes keep spaces together; nothing else has a meaning.
import { TuttiError } from "../protocol/error.ts";

export function commandWords(text: string): string[] {
  const words: string[] = [];
  const pattern = /\s*((?:'[^']*'|"[^"]*"|[^\s'"])+)/y;
  while (pattern.lastIndex < text.trimEnd().length) {
    const [, word] = pattern.exec(text) ?? [];
    if (word === undefined) throw new TuttiError("invalid_input", "a quote in the command is not closed");
    words.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
  }
  return words;
}
