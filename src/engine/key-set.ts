// The keys that a run has used. Most runs use a few, and a short list takes much less memory than a set.

/** From so many on, looking through a list takes longer than a set. */
const fewKeys = 16;

export class KeySet {
  #few: string[] | undefined = [];
  #many: Set<string> | undefined;

  /** False when it was there already. */
  add(key: string): boolean {
    if (this.#many !== undefined) {
      if (this.#many.has(key)) return false;
      this.#many.add(key);
      return true;
    }
    const few = this.#few ?? [];
    if (few.includes(key)) return false;
    few.push(key);
    if (few.length === fewKeys) {
      this.#many = new Set(few);
      this.#few = undefined;
    }
    return true;
  }
}
