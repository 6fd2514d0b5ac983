// The profile with which `sandbox-exec` of macOS confines a program: it can read the machine and change only the task's folders.

import { namePatterns } from "../../../core/protected-path.ts";
import type { Launcher } from "../process/launcher.ts";
import type { Confinement } from "./bwrap-argv.ts";

/** Written by many programs; they are devices, so nothing is kept in them. */
const devices = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/dtracehelper"];

export interface SeatbeltOptions extends Omit<Confinement, "cwd" | "binds"> {
  /** A folder for temporary files that belongs to this run alone. */
  readonly temporary: string;
  /** Whether protected files may be changed, because a person agreed to it. */
  readonly mayChangeProtected: boolean;
  /** Folders inside of hidden ones that may be read. */
  readonly visible?: readonly string[];
}

/** Of two rules that match, the later one applies. */
export function seatbeltProfile(options: SeatbeltOptions): string {
  const { writable, hidden, readOnly, blank, network, temporary, mayChangeProtected, visible = [] } = options;
  const subpath = (path: string): string => `(subpath ${quote(path)})`;
  // Of nested folders the inner one applies, as with bubblewrap, so what is hidden around a visible folder comes first.
  const around = hidden.filter((path) => [...writable, ...visible].some((inner) => isInside(inner, path)));
  const rules = [
    "(version 1)",
    "(deny default)",
    "(allow process-exec)",
    "(allow process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow process-info* (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow file-read*)",
    ...around.flatMap((path) => [
      `(deny file-read* file-write* ${subpath(path)})`,
      `(allow file-read* ${[...writable, ...visible]
        .filter((inner) => isInside(inner, path))
        .map(subpath)
        .join(" ")})`,
    ]),
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
  const unseen = [...hidden.filter((path) => !around.includes(path)), ...blank];
  if (unseen.length > 0) rules.push(`(deny file-read* file-write* ${unseen.map(subpath).join(" ")})`);
  return `${rules.join("\n")}\n`;
}

function isInside(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === "/" ? folder : `${folder}/`);
}

/** `sandbox-exec` takes the profile as an argument. */
export function seatbeltLauncher(program: string, profile: string): Launcher {
  return { by: "sandbox-exec", argv: [program, "-p", profile] };
}

/** By name, so that a protected file which does not exist yet cannot be created either. */
function protectedPatterns(root: string): string[] {
  const inside = `^${escapeRegex(root === "/" ? "" : root)}/(.*/)?`;
  return namePatterns.map(({ folder, start, end }) => {
    const outer = folder === undefined ? "" : `${anyCase(folder)}/`;
    const name = end === undefined ? anyCase(start) : `${anyCase(start)}[^/]*${anyCase(end)}`;
    return `(regex ${quote(`${inside}${outer}${name}(/.*)?$`)})`;
  });
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
