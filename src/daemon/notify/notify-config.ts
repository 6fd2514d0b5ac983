// The configuration of notifications. It holds names of environment variables, never secrets.

import { z } from "zod";

const NoticeKind = z.enum(["ask", "finished", "failed"]);

const WebhookSettings = z.strictObject({
  url: z.url().superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  }),
  /** The environment variable that holds the signing secret. */
  secret_env: z.string().min(1),
});

export const NotifyConfig = z.strictObject({
  /** The program and its arguments. No shell is involved. */
  command: z.tuple([z.string().min(1)], z.string()).optional(),
  webhook: WebhookSettings.optional(),
  /** `auto` means: if there is a desktop, and a program that shows notices on it. */
  desktop: z.union([z.boolean(), z.literal("auto")]).default("auto"),
  on: z.array(NoticeKind).default(() => [...NoticeKind.options]),
});
export type NotifyConfig = z.infer<typeof NotifyConfig>;

/** Notices leave this machine encrypted or not at all. */
function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== "" || password !== "")
    return "must not contain a user name or password; the signature proves the sender";
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return undefined;
  return "must be https, or http to this machine";
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
