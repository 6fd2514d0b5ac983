// How long a stopping daemon lets running steps finish, unless its options say otherwise.

export const defaultGraceMs = 10_000;
