// How many files a task asks to be changed, where its words say a number: "Update all 6 files". A claim is held against it.

const changes =
  /\b(?:add|append|change|convert|correct|delete|edit|fill|fix|give|insert|migrate|modify|move|port|prefix|put|refactor|remove|rename|replace|rewrite|set|sort|translate|update|write)\b/i;
const looks = /\b(?:check|compare|count|find|inspect|list|look|read|review|search|see|tell|whether|which)\b/i;
const words = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
const numbered =
  /\b(?:all|each|every one)(?: of)?(?: the| these| those)? (\d{1,6}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve) (?:[\w./-]{1,40} ){0,3}(?:files?|modules?|pages?|documents?|scripts?)\b/gi;

/** The largest number; undefined when no sentence that asks for a change says one. */
export function askedItems(objective: string): number | undefined {
  const counts = objective
    .slice(0, 20_000)
    .split(/[;!?\n]|\.\s/)
    .filter((sentence) => changes.test(sentence) && !looks.test(sentence))
    .flatMap((sentence) => [...sentence.matchAll(numbered)].map(([, count]) => countOf(count)));
  return counts.length === 0 ? undefined : Math.max(...counts);
}

function countOf(text = ""): number {
  const at = words.indexOf(text.toLowerCase());
  return at === -1 ? Number(text) : at + 2;
}
