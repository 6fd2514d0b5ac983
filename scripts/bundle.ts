// Bundles a program into few files: loading a hundred small modules is most of what starting it costs.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { build, type BuildOptions, type Plugin } from "esbuild";

const root = join(import.meta.dirname, "..");

/** What the command loads: itself, what it works with, the threads that search, the process that runs configs, and the watchdog of a node. Their names are their files'. */
export const commandEntries = {
  main: "src/cli/main.ts",
  "local-host": "src/daemon/local-host.ts",
  "search-worker": "src/agent/workspace/search-worker.ts",
  "insight-worker": "src/daemon/insight/insight-worker.ts",
  "config-child": "src/daemon/project/config-child.ts",
  "watchdog-process": "src/cluster/watchdog-process.ts",
};

/** What programs import, and the thread that searches. */
export const libraryEntries = {
  index: "src/index.ts",
  testing: "src/library/testing.ts",
  "search-worker": "src/agent/workspace/search-worker.ts",
};

/** Packages of the daemon that load files of their own. Everything else goes in, so that the package installs on old versions of Node without warnings. */
const external = ["pino", "ws"];

/** Packages written as CommonJS ask for Node's own modules through `require`, which an ES module has only if it makes it. */
const requireBanner =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);';

/** The validation library brings its messages in fifty languages. Ours are English, and the others would be loaded by every command. */
const englishOnly: Plugin = {
  name: "english-only",
  setup(building) {
    building.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** An error is the same for every part of the package that a program imports, so that it is recognised by its class. */
const sharedError: Plugin = {
  name: "shared-error",
  setup(building) {
    building.onResolve({ filter: /(?:^|\/)error\.ts$/ }, ({ path, resolveDir }) =>
      join(resolveDir, path) === join(root, "src", "protocol", "error.ts")
        ? { path: "../protocol/error.js", external: true }
        : undefined,
    );
  },
};

/** The schemas of a program and those of the library are made by the same zod. */
export function bundleLibrary(outdir: string): Promise<void> {
  return bundle(libraryEntries, outdir, { external: ["zod", ...external], plugins: [sharedError] });
}

export async function bundle(
  entries: Readonly<Record<string, string>>,
  outdir: string,
  parts: Pick<BuildOptions, "external" | "plugins"> = { external, plugins: [englishOnly] },
): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { ...entries },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    ...parts,
    banner: { js: requireBanner },
    metafile: true,
    logLevel: "warning",
  });
  writeFileSync(join(outdir, "LICENSES.txt"), licensesOf(Object.keys(metafile.inputs)));
}

/** The licences of the packages that went in, as they ask. */
function licensesOf(inputs: readonly string[]): string {
  const packages = inputs.flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
  return [...new Set(packages)]
    .toSorted()
    .map((name) => `${name}\n\n${licenseOf(name).trim()}\n`)
    .join("\n----\n\n");
}

/** Packages whose archive lacks a licence file, with a package of the same repository whose file holds for both. */
const sameLicense = new Map([["@ai-sdk/provider-utils", "@ai-sdk/provider"]]);

function licenseOf(name: string): string {
  const folder = join(root, "node_modules", sameLicense.get(name) ?? name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.md|\.txt)?$/i.test(each));
  if (file !== undefined) return readFileSync(join(folder, file), "utf8");
  // Some packages have it as a section of their README.
  const readme = readdirSync(folder).find((each) => /^readme\.md$/i.test(each));
  const text = readme === undefined ? "" : readFileSync(join(folder, readme), "utf8");
  const [, section] = /^#+ licen[cs]e *$([^#]*)/im.exec(text) ?? [];
  if (section?.includes("Permission is hereby granted") !== true)
    throw new Error(`${name} is bundled and has no licence`);
  return section;
}
