// What the official conformance suite wants a server to have, added to Tutti's own MCP server, so that its cases go through Tutti's path /mcp.

import { setTimeout as sleep } from "node:timers/promises";

import {
  completable,
  fromJsonSchema,
  inputRequired,
  type McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { z } from "zod";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const none = z.object({});

const text = (said: string) => ({ type: "text" as const, text: said });
const image = { type: "image" as const, data: png, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, said: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: said },
});

/** With the vocabulary of 2020-12 that the suite looks for. */
const wideSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
} as const;

const headerSchema = {
  type: "object",
  properties: { region: { type: "string", "x-mcp-header": "Region" }, query: { type: "string" } },
} as const;

export function suiteParts(server: McpServer): void {
  server.server.registerCapabilities({ logging: {}, completions: {} });
  addTools(server);
  addResources(server);
  addPrompts(server);
}

function addTools(server: McpServer): void {
  const fixed = {
    test_simple_text: [text("This is a simple text response for testing.")],
    test_image_content: [image],
    test_audio_content: [{ type: "audio" as const, data: wav, mimeType: "audio/wav" }],
    test_embedded_resource: [
      resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    test_multiple_content_types: [
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    test_logging_tool: [text("nothing was logged")],
  };
  for (const [name, content] of Object.entries(fixed)) {
    server.registerTool(name, { description: name, inputSchema: none }, async () => ({ content }));
  }
  server.registerTool("test_error_handling", { description: "Fails.", inputSchema: none }, async () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_tool_with_logging", { description: "Logs.", inputSchema: none }, async (_, { mcpReq }) => {
    for (const said of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await mcpReq.log("info", said);
      await sleep(50);
    }
    return { content: [text("done")] };
  });
  server.registerTool("test_tool_with_progress", { description: "Goes on.", inputSchema: none }, async (_, context) => {
    const { mcpReq } = context;
    const token = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken: token ?? "", progress, total: 100 };
      if (token !== undefined) await mcpReq.notify({ method: "notifications/progress", params });
      await sleep(50);
    }
    return { content: [text("done")] };
  });
  server.registerTool(
    "json_schema_2020_12_tool",
    { description: "Tool with JSON Schema 2020-12 features", inputSchema: fromJsonSchema(wideSchema) },
    async () => ({ content: [text("done")] }),
  );
  server.registerTool(
    "test_headers",
    { description: "Has an argument in a header.", inputSchema: fromJsonSchema(headerSchema) },
    async () => ({ content: [text("done")] }),
  );
  const sampled = { messages: [{ role: "user" as const, content: text("Say hello.") }], maxTokens: 1 };
  server.registerTool("test_missing_capability", { description: "Wants sampling.", inputSchema: none }, async () =>
    inputRequired({ inputRequests: { said: inputRequired.createMessage(sampled) } }),
  );
  server.registerTool("test_streaming_elicitation", { description: "Asks.", inputSchema: none }, async () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({ message: "Who?", requestedSchema: z.object({ name: z.string() }) }),
      },
    }),
  );
}

function addResources(server: McpServer): void {
  const about = { description: "A resource of the suite." };
  server.registerResource("text", "test://static-text", { ...about, mimeType: "text/plain" }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "This is the content of the static text resource." }],
  }));
  server.registerResource("binary", "test://static-binary", { ...about, mimeType: "image/png" }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: "image/png", blob: png }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  server.registerResource("template", template, about, async ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: "application/json",
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
      },
    ],
  }));
}

function addPrompts(server: McpServer): void {
  const user = <C>(content: C) => ({ role: "user" as const, content });
  server.registerPrompt("test_simple_prompt", { description: "Simple." }, async () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  const first = completable(z.string(), (given) => ["paris", "park", "party"].filter((each) => each.startsWith(given)));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "With arguments.", argsSchema: z.object({ arg1: first, arg2: z.string() }) },
    async ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource.", argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) => ({
      messages: [
        user(resource(resourceUri, "text/plain", "Embedded resource content for testing.")),
        user(text("Please process the embedded resource above.")),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image." }, async () => ({
    messages: [user(image), user(text("Please analyze the image above."))],
  }));
}
