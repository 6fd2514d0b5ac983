// The levels of effort by name; apart from the schemas, because the command line lists them before it loads any.

export const effortLevels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
