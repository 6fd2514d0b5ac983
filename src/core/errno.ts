// The code of an error that the operating system reported.

/** Such as `ENOENT`; undefined when what was thrown has no code. */
export function errno(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : undefined;
}
