// What the operator and worker services log to; the daemon passes its logger.

export interface ServiceLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}
