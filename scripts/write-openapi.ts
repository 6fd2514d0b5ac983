// Writes the description of the API to docs/openapi.json, as the service gives it.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { openApiDocument } from "../src/protocol/api/openapi-document.ts";

const root = join(import.meta.dirname, "..");
const file = join(root, "docs", "openapi.json");
writeFileSync(file, `${JSON.stringify(openApiDocument(), null, 2)}\n`);
const format = spawnSync("oxfmt", [file], { cwd: root, stdio: "inherit" });
if (format.error) console.error(`could not run oxfmt: ${format.error.message}; run this through \`npm run openapi\``);
process.exitCode = format.status ?? 1;
