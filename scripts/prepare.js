// npm runs this after `npm ci` in a clone, which needs no build, and before it packs a git repository, which does. Old versions of Node load this file.
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { findNode } from "../bin/installed-node.js";

const root = realpathSync(fileURLToPath(new URL("..", import.meta.url)));
const modules = join(root, "node_modules");

linkNode();
if (isClonedByNpm() && !existsSync(join(root, "dist", "node", "index.js"))) build();

/** npm 10 takes this link away when it leaves out the packages with a Node for other machines. */
function linkNode() {
  const link = join(modules, ".bin", "node");
  const node = findNode();
  if (node === undefined || !existsSync(dirname(link)) || existsSync(link)) return;
  symlinkSync(relative(dirname(link), node), link);
}

/** npm clones into its cache, where nobody works. */
function isClonedByNpm() {
  const cache = process.env.npm_config_cache;
  return cache !== undefined && existsSync(cache) && root.startsWith(realpathSync(cache) + sep);
}

function build() {
  if (!existsSync(modules)) {
    console.error(
      "tutti: `npm install -g` of a git repository does not install what the build needs; type instead: npm pack URL && npm install -g ./tutti-*.tgz",
    );
    process.exitCode = 1;
    return;
  }
  // Standard output has the name of the packed file.
  const run = spawnSync("npm", ["run", "build"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (run.status !== 0) process.exitCode = 1;
}
