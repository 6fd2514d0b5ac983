import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import { openApiDocument } from "./openapi-document.ts";
import type { RouteSpec } from "./route-shape.ts";
import { routes } from "./routes.ts";

const Schema = z.record(z.string(), z.unknown());
const Parameter = z.strictObject({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  description: z.string().min(1),
  required: z.boolean(),
  schema: Schema,
});
const Media = z.looseObject({ schema: Schema });
const Response = z.union([
  z.strictObject({ $ref: z.string() }),
  z.strictObject({ description: z.string().min(1), content: z.record(z.string(), Media).optional() }),
]);
const Operation = z.strictObject({
  operationId: z.string(),
  tags: z.array(z.string()).length(1),
  summary: z.string().min(1),
  description: z.string().optional(),
  "x-frames": z.record(z.string(), Schema).optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(Parameter).optional(),
  requestBody: z
    .strictObject({
      required: z.boolean(),
      description: z.string().optional(),
      content: z.record(z.string(), Media),
    })
    .optional(),
  responses: z.record(z.string().regex(/^(\d{3}|default)$/), Response),
});
/** What an OpenAPI 3.1 document must be, as far as this one goes. */
const Document = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.strictObject({ url: z.url(), description: z.string() })),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  paths: z.record(z.string().startsWith("/"), z.partialRecord(z.enum(["get", "post", "delete"]), Operation)),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[A-Za-z0-9._-]+$/), Schema),
    responses: z.record(z.string().regex(/^[A-Za-z0-9._-]+$/), Response),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.enum(["http", "apiKey"]) })),
  }),
});

const table: readonly [string, RouteSpec][] = Object.entries(routes);
const parsed = Document.parse(openApiDocument());
const operations = Object.entries(parsed.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

test("every route of the table is in the document and every one in the document is in the table", () => {
  const described = operations.map(({ path, method, operation }) => `${operation.operationId} ${method} ${path}`);
  assert.deepEqual(
    described.toSorted(),
    table.map(([name, { method, path }]) => `${name} ${method} ${path}`).toSorted(),
  );
});

test("no two routes have the same method and path", () => {
  const places = table.map(([, { method, path }]) => `${method} ${path.replaceAll(/\{[^}]*\}/g, "{}")}`);
  assert.equal(new Set(places).size, places.length);
});

test("what an operation declares is what the table says of the route", () => {
  for (const { operation } of operations) {
    const route = table.find(([name]) => name === operation.operationId)?.[1];
    assert.ok(route);
    const place = operation.operationId;
    const declared = Object.keys(operation.responses);
    const expected = [
      route.reply.status,
      ...("also" in route.reply ? (route.reply.also ?? []) : []),
      ...(route.refuses ?? []),
    ];
    for (const status of expected) assert.ok(declared.includes(String(status)), `${place} declares ${status}`);
    assert.ok(declared.includes("default"), place);
    assert.equal(operation.requestBody !== undefined, route.body !== undefined, place);
    assert.equal(operation.security.length === 0, route.access === "public", place);
    for (const scheme of operation.security.flatMap((each) => Object.keys(each))) {
      assert.ok(scheme in parsed.components.securitySchemes, `${place}: ${scheme}`);
    }
    assert.ok(
      parsed.tags.some(({ name }) => name === operation.tags[0]),
      `${place}: tag`,
    );
  }
});

test("the parameters in a path are declared, and none besides", () => {
  for (const { path, operation } of operations) {
    const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
    const declared = (operation.parameters ?? []).filter((each) => each.in === "path");
    assert.deepEqual(
      declared.map(({ name }) => name),
      inPath,
      path,
    );
    assert.ok(
      declared.every(({ required }) => required),
      path,
    );
  }
});

test("query parameters that are true or false are declared as booleans", () => {
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
  const booleans = parameters.filter(({ schema }) => schema["type"] === "boolean");
  assert.deepEqual(
    new Set(booleans.map(({ name }) => name)),
    new Set(["anew", "roots", "live", "probe", "working", "ok"]),
  );
});

test("every reference leads somewhere and every named shape is used", () => {
  const led = new Set<string>();
  walk(parsed, (key, value) => {
    if (key !== "$ref") return;
    assert.ok(typeof value === "string" && value.startsWith("#/"), String(value));
    const found = value
      .slice(2)
      .split("/")
      .reduce<unknown>(
        (at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined),
        parsed,
      );
    assert.ok(found !== undefined, `${value} leads nowhere`);
    led.add(value);
  });
  for (const name of Object.keys(parsed.components.schemas)) {
    assert.ok(led.has(`#/components/schemas/${name}`), `${name} is used`);
  }
});

const schemaWords = new Set(
  "$ref type properties required additionalProperties propertyNames items prefixItems minItems maxItems enum const default anyOf oneOf allOf not pattern format minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf description minProperties maxProperties contentEncoding contentMediaType".split(
    " ",
  ),
);

function checkSchema(schema: unknown, at: string): void {
  if (typeof schema === "boolean") return;
  assert.ok(typeof schema === "object" && schema !== null && !Array.isArray(schema), `${at} is a schema`);
  for (const [word, value] of Object.entries(schema)) {
    assert.ok(schemaWords.has(word), `${at}: ${word} is no word of JSON Schema that we use`);
    if (word === "properties") {
      for (const [name, each] of Object.entries(Schema.parse(value))) checkSchema(each, `${at}.${name}`);
    } else if (["items", "additionalProperties", "propertyNames", "not"].includes(word))
      checkSchema(value, `${at}.${word}`);
    else if (["anyOf", "oneOf", "allOf", "prefixItems"].includes(word)) {
      for (const each of z.array(z.unknown()).min(1).parse(value)) checkSchema(each, `${at}.${word}`);
    } else if (word === "required") assert.ok(z.array(z.string()).safeParse(value).success, at);
    else if (word === "pattern") assert.ok(new RegExp(z.string().parse(value), "u"), at);
  }
}

test("shapes are JSON Schema and nothing else, and a reader of JSON Schema takes each of them", () => {
  const all: Record<string, unknown> = { ...parsed.components.schemas };
  walk(parsed.paths, (key, value) => {
    if (key === "schema") all[`inline ${Object.keys(all).length}`] = value;
  });
  for (const [name, schema] of Object.entries(all)) checkSchema(schema, name);
  const $defs = Schema.parse(
    JSON.parse(JSON.stringify(parsed.components.schemas).replaceAll("#/components/schemas/", "#/$defs/")),
  );
  for (const name of Object.keys($defs)) {
    const whole: Readonly<Record<string, unknown>> = { $ref: `#/$defs/${name}`, $defs };
    assert.doesNotThrow(() => z.fromJSONSchema(whole), name);
  }
});

test("what is sent may leave out what has a default, what is given may not", () => {
  const { PartMetadata, PartMetadataInput } = parsed.components.schemas;
  assert.deepEqual(PartMetadata?.["required"], ["save", "developer"]);
  assert.equal(PartMetadataInput?.["required"], undefined);
  assert.equal(parsed.components.schemas["AnswerInput"], undefined, "one form where both are the same");
});

test("the document is plain JSON: nothing is lost when it is written", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(openApiDocument())), openApiDocument());
});

test("docs/openapi.json is what the service gives; `npm run openapi` writes it", () => {
  const file = join(import.meta.dirname, "..", "..", "..", "docs", "openapi.json");
  const written: unknown = JSON.parse(readFileSync(file, "utf8"));
  assert.ok(isDeepStrictEqual(written, openApiDocument()), "docs/openapi.json is stale; run `npm run openapi`");
});

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, each] of Object.entries(value)) {
    visit(key, each);
    walk(each, visit);
  }
}
