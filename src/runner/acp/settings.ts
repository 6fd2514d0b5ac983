// What a config says about coding agents: further profiles, where their programs are, and how long they may be silent.

import { z } from "zod";

import { builtinProfiles, Profiles } from "./profile.ts";

export const AcpSettings = z.strictObject({
  /** By name; one with the name of a built-in profile takes its place. */
  profiles: Profiles.default({}),
  /** Folders that a confined session may read, although they are in a home folder. */
  toolchains: z.array(z.string().startsWith("/", "must be an absolute path")).default([]),
  /** Silence after which a person is asked. */
  stall_ms: z
    .int()
    .min(1_000)
    .max(24 * 60 * 60_000)
    .optional(),
});
export type AcpSettings = z.infer<typeof AcpSettings>;

/** What a project sets takes precedence over what the user sets, name by name. */
export function mergeAcpSettings(user: AcpSettings, project: AcpSettings): AcpSettings {
  const stall_ms = project.stall_ms ?? user.stall_ms;
  return {
    profiles: { ...builtinProfiles, ...user.profiles, ...project.profiles },
    toolchains: [...user.toolchains, ...project.toolchains],
    ...(stall_ms === undefined ? {} : { stall_ms }),
  };
}
