// Loads the command line: from source in a clone, from dist/ in an installed package.
import { existsSync } from "node:fs";
import module from "node:module";

// Parsing our dependencies is most of the start-up time, so Node keeps the compiled form between runs.
module.enableCompileCache();

const source = new URL("../src/cli/main.ts", import.meta.url);
const [folder, ending] = existsSync(source) ? ["../src", "ts"] : ["../dist", "js"];
const load = (path) => import(new URL(`${folder}/${path}.${ending}`, import.meta.url).href);
const { main } = await load("cli/main");
await main(process.argv.slice(2), async () => (await load("daemon/open-state")).opener);
