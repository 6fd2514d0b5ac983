// What the configuration of a repository means for Tutti's own git: which programs it names, and how each is switched off.

import { TuttiError } from "../protocol/error.ts";

/** What `git config --list --show-scope -z` tells, in the parts that matter here. */
export interface GitSettings extends GitPrograms {
  /** Whether another git folder of the same repository, or another branch, can have other settings. */
  readonly varies: boolean;
  readonly identity: { readonly name: string; readonly email: string };
  /** Where the person keeps hooks; undefined when in the git folder. */
  readonly hooksPath: string | undefined;
  /** Whether the person signs commits. */
  readonly signs: boolean;
  /** A feature of the repository that workspaces cannot work with, as an end of the sentence "the repository …". */
  readonly unsupported: string | undefined;
}

/** The programs that the settings name. */
export interface GitPrograms {
  /** Names of the filters that are configured, such as `lfs`. Git runs one where an attribute of a file names it. */
  readonly filters: readonly string[];
  readonly mergeDrivers: readonly string[];
  /** Hooks that are settings and no files, as git has them since 2.54. */
  readonly hooks: readonly string[];
  /** The programs that sign, by the names of their settings. */
  readonly signers: Readonly<Record<string, string>>;
}

export const noPrograms: GitPrograms = { filters: [], mergeDrivers: [], hooks: [], signers: {} };

/** Used where the person has told git no name. */
const ownIdentity = { name: "Tutti", email: "tutti@localhost" };

/** Throws when a program is named in a way in which it could not be switched off. */
export function readSettings(list: string): GitSettings {
  const parts = list.split("\0");
  const entries = Array.from({ length: Math.floor(parts.length / 2) }, (_, at): Setting => {
    const [scope = "", entry = ""] = parts.slice(at * 2, at * 2 + 2);
    const end = entry.indexOf("\n");
    const [key, value] = end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    return { scope, key, value };
  });
  const last = (name: string): string | undefined => entries.findLast(({ key }) => key === name)?.value;
  const named = (section: string): string[] => {
    const names = entries.flatMap(({ key }) => (key.startsWith(`${section}.`) ? [key.slice(section.length + 1)] : []));
    const programs = names.flatMap((rest) => (rest.includes(".") ? [rest.slice(0, rest.lastIndexOf("."))] : []));
    return [...new Set(programs)].map((name) => switchable(section, name));
  };
  return {
    filters: named("filter"),
    mergeDrivers: named("merge"),
    hooks: named("hook"),
    signers: signersOf(entries),
    varies: entries.some(({ key }) => key.startsWith("includeif.") || key === "extensions.worktreeconfig"),
    identity: {
      name: last("user.name")?.trim() || ownIdentity.name,
      email: last("user.email")?.trim() || ownIdentity.email,
    },
    hooksPath: last("core.hookspath")?.trim() || undefined,
    signs: /^(?:true|yes|on|1)$/i.test(last("commit.gpgsign")?.trim() ?? ""),
    unsupported: unsupportedPart(entries),
  };
}

interface Setting {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/** `git -c` ends a name at its first equals sign, and takes no bytes that are not text. */
function switchable(section: string, name: string): string {
  if (!/[=\uFFFD\n]/.test(name)) return name;
  throw new TuttiError(
    "refused",
    `git's settings have a section ${section} with the name ${JSON.stringify(name)}, whose programs Tutti cannot switch off; give it a name without "=" and in UTF-8`,
  );
}

/** What git runs to sign when nobody says otherwise. */
const usualSigners = [
  { setting: "gpg.openpgp.program", also: "gpg.program", usual: "gpg" },
  { setting: "gpg.x509.program", usual: "gpgsm" },
  { setting: "gpg.ssh.program", usual: "ssh-keygen" },
  { setting: "gpg.ssh.defaultKeyCommand", usual: "false" },
] as const;

/** Whether commits are signed, and with which key, a repository may say; which program does it, only the person's own settings. */
function signersOf(entries: readonly Setting[]): Record<string, string> {
  const own = entries.filter(({ scope }) => scope === "system" || scope === "global");
  return Object.fromEntries(
    usualSigners.map(({ setting, usual, ...rest }) => {
      const names = [setting.toLowerCase(), ...("also" in rest ? [rest.also] : [])];
      return [setting, own.findLast(({ key }) => names.includes(key))?.value ?? usual];
    }),
  );
}

/** The programs of the first that the second do not name. */
export function furtherPrograms(first: GitPrograms, second: GitPrograms): string[] {
  const names = ({ filters, mergeDrivers, hooks }: GitPrograms): string[] => [
    ...filters.map((name) => `filter.${name}`),
    ...mergeDrivers.map((name) => `merge.${name}`),
    ...hooks.map((name) => `hook.${name}`),
  ];
  const known = new Set(names(second));
  return names(first).filter((name) => !known.has(name));
}

function unsupportedPart(entries: readonly Setting[]): string | undefined {
  for (const { key, value } of entries) {
    if (key === "extensions.refstorage" && value !== "files") return `keeps its refs as "${value}", not as files`;
    if (key === "extensions.partialclone" || (/^remote\..*\.promisor$/s.test(key) && value !== "false")) {
      return "is a partial clone, whose missing files only a fetch could bring; fetch them with `git fetch --refetch --no-filter`";
    }
  }
  return undefined;
}

/**
 * Everything that makes git start a program or use the network is off. A file of a workspace can choose among the filters and
 * merge drivers of the configuration, so each of them is named and replaced.
 */
const alwaysOff = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.attributesFile=/dev/null",
  "core.sshCommand=false",
  "core.alternateRefsCommand=false",
  "core.askPass=false",
  "core.editor=false",
  "core.pager=cat",
  "credential.helper=",
  "diff.external=",
  "protocol.allow=never",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "log.showSignature=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "diff.ignoreSubmodules=all",
  "status.submoduleSummary=false",
  // Files that speed git up and that a session could forge.
  "core.commitGraph=false",
  "core.multiPackIndex=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "index.sparse=false",
  "core.sparseCheckout=false",
  // A smaller one would make every file look binary.
  "core.bigFileThreshold=512m",
  "core.protectHFS=true",
  "core.protectNTFS=true",
  "core.quotePath=false",
  "core.logAllRefUpdates=true",
];

/** For git that runs unconfined: no filter works. */
export function safeSettings(programs: GitPrograms): string[] {
  return flags([...alwaysOff, ...programs.filters.flatMap(filterOff), ...othersOff(programs)]);
}

/** For git that runs confined: filters work as the person configured them, except the one that would need the network. */
export function confinedSettings(programs: GitPrograms): string[] {
  const off = programs.filters.filter((name) => name === lfs).flatMap(filterOff);
  return flags([...alwaysOff, ...off, ...othersOff(programs)]);
}

function othersOff({ mergeDrivers, hooks, signers }: GitPrograms): string[] {
  return [
    ...mergeDrivers.map(plainMerge),
    ...hooks.map((name) => `hook.${name}.enabled=false`),
    ...Object.entries(signers).map(([name, program]) => `${name}=${program}`),
  ];
}

/** Git LFS: its files stay the small texts that point to the contents. */
export const lfs = "lfs";

function flags(settings: readonly string[]): string[] {
  return settings.flatMap((setting) => ["-c", setting]);
}

function filterOff(name: string): string[] {
  return ["clean=", "smudge=", "process=", "required=false"].map((setting) => `filter.${name}.${setting}`);
}

/** Git has no way to say "none", so the program of a driver is replaced by git's own merge of texts. */
function plainMerge(name: string): string {
  return `merge.${name}.driver=git merge-file --quiet --marker-size=%L %A %O %B`;
}
