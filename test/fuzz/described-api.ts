// The API as its OpenAPI description declares it: its operations, and whether a reply is one of the declared ones.

import { z } from "zod";

const Schema = z.record(z.string(), z.unknown());
export type Schema = z.infer<typeof Schema>;

const Media = z.looseObject({ schema: Schema });
const Operation = z.looseObject({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z
    .array(
      z.object({ name: z.string(), in: z.enum(["path", "query", "header"]), required: z.boolean(), schema: Schema }),
    )
    .default([]),
  requestBody: z.object({ required: z.boolean(), content: z.record(z.string(), Media) }).optional(),
  responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), Media).optional() })),
});
const Description = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), Schema) }),
});

export interface ApiOperation extends z.infer<typeof Operation> {
  readonly method: string;
  readonly path: string;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** Only a beginning was read. */
  readonly cut: boolean;
}

export interface Api {
  readonly operations: readonly ApiOperation[];
  resolve(schema: Schema): Schema;
  /** What is wrong with the reply; undefined when it is one that was declared. */
  undeclared(operation: ApiOperation | undefined, reply: Reply): string | undefined;
}

const problemType = "application/problem+json";
/** Checking takes longer than answering; past this a reply is only looked at from outside. */
const mostChecked = 200_000;

export function readApi(document: unknown): Api {
  const { paths, components } = Description.parse(document);
  const $defs = Schema.parse(JSON.parse(inDefs(components.schemas)));
  const parsers = new Map<string, z.ZodType>();
  const parserOf = (schema: Schema): z.ZodType => {
    const text = inDefs(schema);
    let parser = parsers.get(text);
    if (parser === undefined) {
      const whole: Schema = { ...Schema.parse(JSON.parse(text)), $defs };
      parser = z.fromJSONSchema(whole);
      parsers.set(text, parser);
    }
    return parser;
  };
  const fits = (schema: Schema, text: string): string | undefined => {
    if (text.length > mostChecked) return undefined;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return "is not JSON";
    }
    const read = parserOf(schema).safeParse(value);
    if (read.success) return undefined;
    const [issue] = read.error.issues;
    return `does not have its shape: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
  };
  return {
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    ),
    resolve(schema) {
      let at = schema;
      for (let hops = 0; hops < 16 && typeof at["$ref"] === "string"; hops += 1) {
        const name = at["$ref"].split("/").at(-1) ?? "";
        at = components.schemas[name] ?? {};
      }
      return at;
    },
    undeclared(operation, { status, type, text, cut }) {
      const plain = type.split(";")[0]?.trim() ?? "";
      if (status >= 400) {
        if (plain !== problemType) return `${status} is told as ${plain}, not as a problem`;
        const wrong = cut ? undefined : fits({ $ref: "#/components/schemas/Problem" }, text);
        return wrong ?? (cut || Problem.parse(JSON.parse(text)).status === status ? undefined : "tells another status");
      }
      const content = operation?.responses[String(status)]?.content;
      if (operation === undefined || !(String(status) in operation.responses)) return `${status} is not declared`;
      if (content === undefined) return text === "" ? undefined : `${status} has a body and none is declared`;
      const media = content[plain];
      if (media === undefined) return `${plain} is not declared for ${status}`;
      if (cut || plain === "text/event-stream") return undefined;
      if (plain !== "application/x-ndjson") return fits(media.schema, text);
      const lines = text.split("\n").slice(0, 50);
      return lines
        .map((line) => (line === "" ? undefined : fits(media.schema, line)))
        .find((wrong) => wrong !== undefined);
    },
  };
}

const Problem = z.looseObject({ status: z.int() });

function inDefs(schema: Schema): string {
  return JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/");
}
