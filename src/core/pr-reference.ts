// The addresses of pull requests and comments, and whether they belong to a repository that a remote of git names.

export interface PrReference {
  readonly url: string;
  readonly host: string;
  /** The path of the repository on its host, without `.git`. */
  readonly repository: string;
  readonly number: number;
}

/** Undefined when the text is not exactly the address of a pull request or merge request. */
export function readPrUrl(url: string): PrReference | undefined {
  const found =
    /^https:\/\/([\w.-]{1,100}(?::\d{1,5})?)\/([\w./-]{1,200}?)\/(?:-\/)?(?:pull|merge_requests)\/(\d{1,9})$/.exec(url);
  const [, host, repository, number] = found ?? [];
  if (host === undefined || repository === undefined || repository.split("/").includes("..")) return undefined;
  return { url, host: host.toLowerCase(), repository: repository.toLowerCase(), number: Number(number) };
}

export interface CommentReference extends Pick<PrReference, "host" | "repository"> {
  /** Comments on lines of a pull request are kept apart from the others. */
  readonly on: "issues" | "pulls";
  readonly id: string;
}

export function readCommentUrl(url: string): CommentReference | undefined {
  const [, page = "", kind, id] = /^(.{1,400})#(issuecomment-|discussion_r)(\d{1,15})$/.exec(url) ?? [];
  const found = readPrUrl(page.replace(/\/issues\/(?=\d{1,9}$)/, "/pull/"));
  if (found === undefined || id === undefined) return undefined;
  return { host: found.host, repository: found.repository, on: kind === "discussion_r" ? "pulls" : "issues", id };
}

/** `remote` is the address of a remote as git has it: `https://host/path.git`, `ssh://git@host/path` or `git@host:path`. */
export function isOfRemote({ host, repository }: Pick<PrReference, "host" | "repository">, remote: string): boolean {
  const [, byUrl, urlPath] = /^(?:https?|ssh|git):\/\/(?:[^@/]{1,200}@)?([^/]{1,200})\/(.{1,300})$/.exec(remote) ?? [];
  const [, byScp, scpPath] = /^(?:[^@/:]{1,200}@)?([^/:]{1,200}):(.{1,300})$/.exec(remote) ?? [];
  const place = byUrl ?? byScp;
  const path = urlPath ?? scpPath;
  if (place === undefined || path === undefined) return false;
  const plain = path
    .replace(/^\/+/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
  // The port of ssh says nothing about the port of the website.
  return withoutPort(place) === withoutPort(host) && plain.toLowerCase() === repository;
}

function withoutPort(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}
