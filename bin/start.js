// Loads the command line: from source in a clone, from the bundle in an installed package.
import { existsSync } from "node:fs";
import module from "node:module";

// Parsing our dependencies is much of the start-up time, so Node keeps the compiled form between runs.
module.enableCompileCache();

const inClone = existsSync(new URL("../src/cli/main.ts", import.meta.url));
const own = (source, built) => new URL(inClone ? source : built, import.meta.url).href;

const { main } = await import(own("../src/cli/main.ts", "../dist/bundle/main.js"));
await main(
  process.argv.slice(2),
  async () => (await import(own("../src/daemon/local-host.ts", "../dist/bundle/local-host.js"))).localHost,
);
