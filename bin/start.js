// Loads the command line: from source in a clone, from dist/ in an installed package.
import { existsSync } from "node:fs";
import module from "node:module";

// Parsing our dependencies is most of the start-up time, so Node keeps the compiled form between runs.
module.enableCompileCache();

const source = new URL("../src/cli/main.ts", import.meta.url);
const built = new URL("../dist/cli/main.js", import.meta.url);
const { main } = await import((existsSync(source) ? source : built).href);
await main(process.argv.slice(2));
