// A word as one would type it in a shell, so that spaces and quotes in it cannot be mistaken for the next word.

export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
