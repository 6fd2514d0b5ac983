// What the desk tells whoever runs it; a logger of the daemon is one.

export interface DeskLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
