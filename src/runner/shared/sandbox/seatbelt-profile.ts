// The profile with which `sandbox-exec` of macOS confines a program: it can read the machine and change only the task's folders.

import {
  editorFiles,
  editorFolder,
  protectedFiles,
  protectedFolders,
  workspaceEnding,
} from "../../../agent/workspace/protected-files.ts";
import type { Confinement } from "./bwrap-argv.ts";

/** Written by many programs; they are devices, so nothing is kept in them. */
const devices = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"];

export interface SeatbeltOptions extends Omit<Confinement, "cwd" | "binds"> {
  /** A folder for temporary files that belongs to this run alone. */
  readonly temporary: string;
  /** Whether protected files may be changed, because a person agreed to it. */
  readonly mayChangeProtected: boolean;
}

/** Of two rules that match, the later one applies. */
export function seatbeltProfile(options: SeatbeltOptions): string {
  const { writable, hidden, readOnly, blank, network, temporary, mayChangeProtected } = options;
  const subpath = (path: string): string => `(subpath ${quote(path)})`;
  const rules = [
    "(version 1)",
    "(deny default)",
    "(allow process-exec)",
    "(allow process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read*)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
    '(allow mach-lookup (global-name "com.apple.system.logger"))',
    "(allow file-ioctl)",
    "(allow pseudo-tty)",
    `(allow file-write* ${[...writable, temporary].map(subpath).join(" ")})`,
    `(allow file-write-data ${devices.map((path) => `(literal ${quote(path)})`).join(" ")})`,
  ];
  if (network) {
    rules.push(
      "(allow network*)",
      "(allow system-socket)",
      '(allow mach-lookup (global-name "com.apple.dnssd.service") (global-name "com.apple.trustd.agent"))',
    );
  }
  if (!mayChangeProtected) {
    for (const root of writable) rules.push(`(deny file-write* ${protectedPatterns(root).join(" ")})`);
    if (readOnly.length > 0) rules.push(`(deny file-write* ${readOnly.map(subpath).join(" ")})`);
  }
  const unseen = [...hidden, ...blank];
  // Of nested folders the inner one applies, as with bubblewrap; nothing of the state is ever a workspace.
  if (unseen.length > 0) rules.push(`(deny file-read* file-write* ${unseen.map(subpath).join(" ")})`);
  return `${rules.join("\n")}\n`;
}

/** `sandbox-exec` takes the profile as an argument. The program and its arguments come after these. */
export function seatbeltArgv(profile: string): string[] {
  return ["-p", profile, "--"];
}

/** By name, so that a protected file which does not exist yet cannot be created either. */
function protectedPatterns(root: string): string[] {
  const inside = `^${escapeRegex(root === "/" ? "" : root)}/(.*/)?`;
  const pattern = (rest: string): string => `(regex ${quote(`${inside}${rest}`)})`;
  return [
    ...[...protectedFolders, ...protectedFiles].map((name) => pattern(`${anyCase(name)}(/.*)?$`)),
    pattern(`${anyCase("tutti.config.")}[^/]*$`),
    pattern(`[^/]*${anyCase(workspaceEnding)}$`),
    pattern(`${anyCase(editorFolder)}/(${editorFiles.map(anyCase).join("|")})$`),
  ];
}

/** The usual file systems of macOS ignore case. */
function anyCase(text: string): string {
  return Array.from(text, (letter) =>
    /[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : escapeRegex(letter),
  ).join("");
}

function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** A string of the profile language. Everything that could end it or begin an escape is escaped itself. */
function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\r", "\\r")}"`;
}
