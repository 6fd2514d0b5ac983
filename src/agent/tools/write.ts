// The tool `write`: writes a whole file, only inside the folders the task may touch.

import { z } from "zod";

import { lookAtFile, refuseUnlessAsShown } from "./file-look.ts";
import { stepTool, type StepTool } from "./tool.ts";
import { readOffLimits } from "../workspace/off-limits.ts";
import { replaceFile, withFile } from "../workspace/workspace-file.ts";

export const write = writeTool("write");
/** The same tool under a longer name. */
export const writeFile = writeTool("write_file");

function writeTool(name: string): StepTool {
  return stepTool({
    name,
    description:
      "Writes a text file, with the folders it needs. A relative path begins at the first folder you may touch. " +
      "What was in the file before is replaced.",
    input: () => z.strictObject({ path: z.string().min(1), content: z.string() }),
    effects: ["write"],
    repeatable: false,
    lookOf: ({ path, content }) => ({
      always: true,
      at: (context) => lookAtFile(path, context, () => ({ text: content })),
    }),
    run: ({ path, content }, { rights, offLimits, look }) =>
      withFile(
        path,
        { roots: rights.roots, offLimits: readOffLimits(offLimits), to: "make", approved: look?.protected },
        async (file) => {
          const { created } = await replaceFile(file, content, await refuseUnlessAsShown(file, look?.file));
          return { path: file.path, bytes: Buffer.byteLength(content), created };
        },
      ),
  });
}
