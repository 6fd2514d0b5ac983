// The files of the built dashboard: read whole at the first request, and again after a new build. Only what was found then is served.

import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { errno } from "../../core/errno.ts";
import { TuttiError } from "../../protocol/error.ts";

export interface DashboardFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
  /** Its name holds a hash of its content, so it never changes. */
  readonly immutable: boolean;
}

export interface DashboardFiles {
  /** The page itself; undefined when no dashboard was built. */
  page(): Promise<DashboardFile | undefined>;
  /** The file at the path of a request, such as `/assets/index-abc.js`; undefined when there is none. Never the page. */
  file(path: string): Promise<DashboardFile | undefined>;
}

const pageName = "/index.html";
const maxFiles = 500;
const maxBytes = 32 * 1024 * 1024;

/** A file of another kind is no part of the dashboard. */
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".webmanifest": "application/manifest+json",
};

interface Build {
  /** Tells one build of the page from the next. */
  readonly mark: string;
  readonly files: ReadonlyMap<string, DashboardFile>;
}

export function dashboardFiles(folder: string): DashboardFiles {
  let known: Build | undefined;
  let reading: Promise<Build | undefined> | undefined;
  const filesNow = async (): Promise<Build["files"] | undefined> => {
    const mark = await markOf(folder);
    if (mark === undefined) return undefined;
    if (known?.mark === mark) return known.files;
    reading ??= readBuild(folder, mark).finally(() => (reading = undefined));
    known = await reading;
    return known?.files;
  };
  return {
    page: async () => (await filesNow())?.get(pageName),
    file: async (path) => (path === pageName ? undefined : (await filesNow())?.get(path)),
  };
}

/** Undefined when there is no page. */
async function markOf(folder: string): Promise<string | undefined> {
  try {
    const [page, assets] = await Promise.all([stat(join(folder, pageName)), stat(join(folder, "assets"))]);
    return `${page.mtimeMs} ${page.size} ${page.ino} ${assets.mtimeMs}`;
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

function isGone(thrown: unknown): boolean {
  return errno(thrown) === "ENOENT" || errno(thrown) === "ENOTDIR";
}

/** Undefined when a file disappears meanwhile, because the next build has begun. */
async function readBuild(folder: string, mark: string): Promise<Build | undefined> {
  try {
    return { mark, files: await readFiles(folder) };
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

async function readFiles(folder: string): Promise<Build["files"]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile() && types[extname(entry.name)] !== undefined);
  if (found.length > maxFiles) throw tooLarge(folder);
  const files = new Map<string, DashboardFile>();
  let bytes = 0;
  for (const { parentPath, name } of found) {
    const file = join(parentPath, name);
    const body = await readFile(file);
    bytes += body.length;
    if (bytes > maxBytes) throw tooLarge(folder);
    const path = `/${relative(folder, file).split(sep).join("/")}`;
    files.set(path, {
      type: types[extname(name)] ?? "",
      body,
      gzipped: await promisify(gzip)(body),
      etag: `"${createHash("sha256").update(body).digest("base64url")}"`,
      immutable: path.startsWith("/assets/"),
    });
  }
  return files;
}

function tooLarge(folder: string): TuttiError {
  return new TuttiError("too_large", `${folder} is too large to be the dashboard; build it again with npm run build`);
}
