// Where the built dashboard lies. This file, and every file of the bundle, is two folders below package.json.

import { fileURLToPath } from "node:url";

export const webFolder: string = fileURLToPath(new URL("../../dist/web", import.meta.url));
