// What the configuration of a repository means for Tutti's own git: which programs it names, and how each is switched off.

/** What `git config --list -z` tells, in the parts that matter here. */
export interface GitSettings {
  /** Names of the filters that are configured, such as `lfs`. Git runs one where an attribute of a file names it. */
  readonly filters: readonly string[];
  readonly mergeDrivers: readonly string[];
  readonly identity: { readonly name: string; readonly email: string };
  /** Where the person keeps hooks; undefined when in the git folder. */
  readonly hooksPath: string | undefined;
  /** Whether the person signs commits. */
  readonly signs: boolean;
  /** A feature of the repository that workspaces cannot work with, as an end of the sentence "the repository …". */
  readonly unsupported: string | undefined;
}

/** Used where the person has told git no name. */
const ownIdentity = { name: "Tutti", email: "tutti@localhost" };

export function readSettings(list: string): GitSettings {
  const entries = list
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry): [name: string, value: string] => {
      const end = entry.indexOf("\n");
      return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    });
  const last = (name: string): string | undefined => entries.findLast(([key]) => key === name)?.[1];
  const named = (section: string): string[] => {
    const names = entries.flatMap(([key]) => (key.startsWith(`${section}.`) ? [key.slice(section.length + 1)] : []));
    return [...new Set(names.flatMap((rest) => (rest.includes(".") ? [rest.slice(0, rest.lastIndexOf("."))] : [])))];
  };
  return {
    filters: named("filter"),
    mergeDrivers: named("merge"),
    identity: {
      name: last("user.name")?.trim() || ownIdentity.name,
      email: last("user.email")?.trim() || ownIdentity.email,
    },
    hooksPath: last("core.hookspath")?.trim() || undefined,
    signs: /^(?:true|yes|on|1)$/i.test(last("commit.gpgsign")?.trim() ?? ""),
    unsupported: unsupportedPart(entries),
  };
}

function unsupportedPart(entries: readonly (readonly [string, string])[]): string | undefined {
  for (const [key, value] of entries) {
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
  "core.protectHFS=true",
  "core.protectNTFS=true",
  "core.quotePath=false",
  "core.logAllRefUpdates=true",
];

/** For git that runs unconfined: no filter works. */
export function safeSettings({ filters, mergeDrivers }: Pick<GitSettings, "filters" | "mergeDrivers">): string[] {
  return flags([...alwaysOff, ...filters.flatMap(filterOff), ...mergeDrivers.map(plainMerge)]);
}

/** For git that runs confined: filters work as the person configured them, except the one that would need the network. */
export function confinedSettings({ filters, mergeDrivers }: Pick<GitSettings, "filters" | "mergeDrivers">): string[] {
  const off = filters.filter((name) => name === lfs).flatMap(filterOff);
  return flags([...alwaysOff, ...off, ...mergeDrivers.map(plainMerge)]);
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
