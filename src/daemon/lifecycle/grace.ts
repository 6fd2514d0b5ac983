// How long steps under way may take to finish when a daemon stops and nothing else was said.

export const defaultGraceMs = 10_000;
