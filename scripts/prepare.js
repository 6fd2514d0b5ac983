// Builds the package where npm installs it from a repository (`npm install -g git+https://…`), since npm runs no other script of it then. Plain JavaScript: any Node can be the one that npm runs on.
import { spawnSync } from "node:child_process";

// npm says where the package comes from only when it prepares one to be packed; `npm ci` in a clone says nothing, and needs no build.
if (/^git\b/.test(process.env.npm_package_resolved ?? "")) {
  const build = spawnSync("npm", ["run", "build"], { stdio: "inherit", shell: process.platform === "win32" });
  if (build.error !== undefined) console.error(`the package could not be built: ${build.error.message}`);
  process.exitCode = build.status ?? 1;
}
