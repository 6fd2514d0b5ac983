import assert from "node:assert/strict";
import { describe, test } from "node:test";

import fc from "../../../test/support/properties.ts";

import { AgentDefinition } from "../../protocol/invocation/invocation-file.ts";
import { type DefinitionReading, readDefinition } from "./definition.ts";
import { starterDefinition } from "./starter-file.ts";

const read = (text: string): DefinitionReading => readDefinition(text, { stem: "stem" });

function agentIn(text: string): Extract<DefinitionReading, { kind: "agent" }> {
  const reading = read(text);
  assert.equal(reading.kind, "agent", JSON.stringify(reading.issues));
  return reading as Extract<DefinitionReading, { kind: "agent" }>;
}

const errorsIn = (text: string): string[] =>
  read(text)
    .issues.filter((issue) => issue.level === "error")
    .map((issue) => `${issue.line}: ${issue.message}`);

const warningsIn = (text: string): string[] =>
  read(text)
    .issues.filter((issue) => issue.level === "warning")
    .map((issue) => `${issue.line}: ${issue.message}`);

describe("a definition people already have", () => {
  test("is read as it stands, with its tools under our names", () => {
    const { name, definition, issues } = agentIn(
      "---\nname: code-reviewer\ndescription: Reviews code\ntools: Read, Grep, Glob, Bash, LS, MultiEdit, Task\nmodel: sonnet\n---\n\nYou review.\n",
    );
    assert.equal(name, "code-reviewer");
    assert.deepEqual(definition, {
      description: "Reviews code",
      instructions: "\nYou review.\n",
      tools: ["read", "search", "run", "list", "edit", "invoke_agent"],
      model: "sonnet",
    });
    assert.deepEqual(issues, []);
  });

  test("may write its description as one line with colons in it, which YAML alone refuses", () => {
    const text =
      '---\nname: a\ndescription: Use it when: X. Examples: <example>user: "it\'s" # done</example>\\n\\nmore\ncolor: red\n---\nb';
    assert.equal(
      agentIn(text).definition.description,
      'Use it when: X. Examples: <example>user: "it\'s" # done</example>\\n\\nmore',
    );
    assert.match(warningsIn(text)[0] ?? "", /^3: .*quotes/);
  });

  test("may have fields that change nothing here; each is a warning with its line", () => {
    const text = "---\nname: a\ndescription: d\ncolor: red\npermissionMode: acceptEdits\nsomething: 1\n---\nb";
    assert.deepEqual(
      warningsIn(text).map((line) => line.split(":")[0]),
      ["4", "5", "6"],
    );
    assert.equal(read(text).kind, "agent");
  });

  test("gets no model of its own from `inherit`, and its turns from maxTurns", () => {
    const { definition } = agentIn("---\nname: a\nmodel: inherit\nmaxTurns: 7\n---\nb");
    assert.equal(definition.model, undefined);
    assert.equal(definition.max_turns, 7);
  });
});

describe("the tools of a definition", () => {
  test("that Tutti does not have are left out with a warning, and an empty rest is no tools, not all", () => {
    const text = "---\nname: a\ndescription: d\ntools: WebFetch, NotebookEdit\n---\nb";
    assert.deepEqual(agentIn(text).definition.tools, []);
    assert.equal(warningsIn(text).length, 2);
  });

  test("of MCP servers are named by their server, which is known elsewhere or the agent's own", () => {
    const front = "tools: mcp__github\nmcpServers:\n  - github\n  - docs: {url: 'https://docs.example/mcp'}";
    const { definition } = agentIn(`---\nname: a\ndescription: d\n${front}\n---\nb`);
    assert.deepEqual(definition.tools, ["mcp__github"]);
    assert.equal(definition.mcp_servers?.["github"], null);
    assert.partialDeepStrictEqual(definition.mcp_servers?.["docs"], { type: "http", url: "https://docs.example/mcp" });
    assert.equal(readDefinition("---\nmcpServers: {a__b: {command: x}}\n---\nb", { stem: "a" }).kind, "broken");
  });

  test("that are limited to some calls are left out rather than given whole", () => {
    const { definition } = agentIn("---\nname: a\ntools: Read, Bash(git diff:*, git log:*)\n---\nb");
    assert.deepEqual(definition.tools, ["read"]);
  });

  test("limit who may be called as Task(a, b) says", () => {
    const { definition } = agentIn("---\nname: a\ntools: Read, Task(x, y)\n---\nb");
    assert.deepEqual(definition.tools, ["read", "invoke_agent"]);
    assert.deepEqual(definition.sub_agents, ["x", "y"]);
  });

  test("are all it has a right to when absent or `*`", () => {
    assert.equal(agentIn("---\nname: a\n---\nb").definition.tools, undefined);
    assert.equal(agentIn('---\nname: a\ntools: "*"\n---\nb').definition.tools, undefined);
  });

  test("lose what disallowedTools takes away; without a list to take from it is an error", () => {
    const { definition } = agentIn("---\nname: a\ntools: [Read, Bash]\ndisallowedTools: Bash\n---\nb");
    assert.deepEqual(definition.tools, ["read"]);
    assert.deepEqual(agentIn('---\nname: a\ntools: Read\ndisallowedTools: "*"\n---\nb').definition.tools, []);
    assert.match(errorsIn("---\nname: a\ndisallowedTools: Bash\n---\nb").join(), /^3: can only take away/);
  });
});

describe("our own fields", () => {
  test("are read whole", () => {
    const { definition } = agentIn(
      [
        "---",
        "name: lead",
        "description: Leads",
        "tools: [read, invoke_agent]",
        "runtimes: local",
        "context: inherited",
        "handover: a, b",
        "sub_agents: [c]",
        "max_turns: 3",
        "max_output_tokens: 100",
        "context_tokens: 9000",
        "budget: { money_usd: 0.25, tokens: 10 }",
        "output_schema:",
        "  type: object",
        "format: fenced",
        "---",
        "body",
      ].join("\n"),
    );
    assert.deepEqual(definition, {
      description: "Leads",
      instructions: "body",
      tools: ["read", "invoke_agent"],
      runtimes: ["local"],
      context: "inherited",
      handover: ["a", "b"],
      sub_agents: ["c"],
      max_turns: 3,
      max_output_tokens: 100,
      context_tokens: 9000,
      budget: { tokens: 10, money_micro_usd: 250_000 },
      output_schema: { type: "object" },
      format: "fenced",
    });
  });

  test("misspelt are errors that say what to write, since read over they would give other rights", () => {
    for (const [field, meant] of [
      ["tool", "tools"],
      ["Tools", "tools"],
      ["max-turns", "max_turns"],
      ["subagents", "sub_agents"],
      ["budgets", "budget"],
      ["modle", ""],
    ] as const) {
      const errors = errorsIn(`---\nname: a\n${field}: 1\n---\nb`);
      if (meant === "") assert.deepEqual(errors, []);
      else assert.deepEqual(errors, [`3: there is no field ${field}; write ${meant}`]);
    }
  });

  test("of a wrong value are errors with the line of the value, inside a map too", () => {
    const errors = errorsIn(
      "---\r\nname: a\r\nmax_turns: 0\r\nbudget:\r\n  tokens: -1\r\n  colour: 2\r\nformat: json\r\n---\r\nb",
    );
    assert.deepEqual(
      errors.map((error) => error.split(":").slice(0, 2).join(":")),
      ["3: max_turns", "5: budget.tokens", "6: budget", "7: format"],
    );
  });
});

describe("the shape of the file", () => {
  test("the body is kept to the byte: blank lines, CRLF, and fences of its own", () => {
    const body = "\r\n# Title\r\n\r\n---\r\nname: not mine\r\n---\r\n\ttail  ";
    assert.equal(agentIn(`\uFEFF---\r\nname: a\r\n---\r\n${body}`).definition.instructions, body);
  });

  test("lines are counted from the first of the file, with a byte order mark and with CRLF", () => {
    assert.match(errorsIn("\uFEFF---\r\nname: a\r\ncontext: none\r\n---\r\nb")[0] ?? "", /^3: context/);
    assert.match(errorsIn("---\nname: [a\n---\nb")[0] ?? "", /^[23]: is not YAML/);
    assert.match(errorsIn("---\nname: a\n\n\nname: b\n---\nb")[0] ?? "", /^[25]: is not YAML: Map keys must be unique/);
  });

  test("without front matter it is no agent and no mistake; never closed, or with nothing below, it is a mistake", () => {
    assert.equal(read("# Read me\n").kind, "other");
    assert.deepEqual(errorsIn("---\nname: a\n"), ["1: the front matter is never closed; end it with a line `---`"]);
    assert.deepEqual(errorsIn("---\nname: a\n---\n \n"), ["4: has no instructions below the front matter"]);
  });

  test("an agent without a name has that of its file, and a name must be plain", () => {
    assert.equal(agentIn("---\ndescription: d\n---\nb").name, "stem");
    for (const name of ["_base", "../x", "a/b", "a\\nb", "-a"]) {
      assert.equal(read(`---\nname: "${name}"\n---\nb`).kind, "broken", name);
    }
  });

  test("an alias is refused: it could hold itself or be expanded without end", () => {
    assert.deepEqual(errorsIn("---\nname: a\noutput_schema: &x\n  a: *x\n---\nb"), [
      "4: has an alias (*); write it out",
    ]);
  });

  test("the starter file is a definition without a flaw", () => {
    const { name, issues } = agentIn(starterDefinition("helper"));
    assert.equal(name, "helper");
    assert.deepEqual(issues, []);
  });
});

const fragment = fc.constantFrom(
  "---", "---\n", "\n", "\r\n", "name: a", "tools: Read", "tools: [", "budget: {tokens: 1}", "\t", "  ", ": ", "- ",
  "&x", "*x", "? ", "!!binary x", "|", ">", "'", '"', "#", "{", "}", "output_schema:", "<<: *x", "\uFEFF", "\0", "%YAML 9",
  "max_turns: 1e400", "name: !!map", "description: a: b: c", "__proto__: {a: 1}", "constructor: 1", "💥",
); // prettier-ignore

describe("whatever is in a file", () => {
  test("reading never throws, gives a definition that can be kept or an error, and lines that exist", () => {
    const soup = fc.array(fc.oneof(fragment, fc.string({ unit: "binary", maxLength: 8 })), { maxLength: 24 });
    fc.assert(
      fc.property(soup, fc.boolean(), (parts, fenced) => {
        const text = fenced ? `---\n${parts.join("\n")}\n---\nbody` : parts.join("");
        const reading = read(text);
        const lines = text.split("\n").length + 1;
        for (const { line } of reading.issues) assert.ok(line >= 1 && line <= lines, `${line} of ${lines}`);
        if (reading.kind === "agent") {
          assert.deepEqual(AgentDefinition.parse(JSON.parse(JSON.stringify(reading.definition))), reading.definition);
        } else if (reading.kind === "broken") {
          assert.ok(reading.issues.some((issue) => issue.level === "error"));
        }
      }),
      { numRuns: 3_000 },
    );
  });

  test("a body of any text comes back as it is, wherever the fences of its own stand", () => {
    const body = fc.array(fc.oneof(fragment, fc.string()), { minLength: 1 }).map((parts) => `x${parts.join("\n")}`);
    fc.assert(
      fc.property(body, fc.constantFrom("\n", "\r\n"), (text, end) => {
        const whole = ["---", "name: a", "---", text].join(end);
        assert.equal(agentIn(whole).definition.instructions, text);
      }),
      { numRuns: 500 },
    );
  });

  test("a wrong value is found on its own line, however many lines stand before it", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("# note", "", "description: d"), { maxLength: 12 }), (before) => {
        const unique = before.filter((line, at) => line !== "description: d" || before.indexOf(line) === at);
        const text = ["---", "name: a", ...unique, "max_turns: many", "---", "b"].join("\n");
        assert.match(errorsIn(text)[0] ?? "", new RegExp(`^${unique.length + 3}: max_turns`));
      }),
      { numRuns: 200 },
    );
  });
});

test("effort, temperature and the options of the provider are read from a definition", () => {
  const front = "effort: high\ntemperature: 0.2\nprovider_options:\n  serviceTier: flex";
  const { definition, issues } = agentIn(`---\nname: a\ndescription: d\n${front}\n---\nDo it.\n`);
  assert.deepEqual(
    [definition.effort, definition.temperature, definition.provider_options],
    ["high", 0.2, { serviceTier: "flex" }],
  );
  assert.deepEqual(issues, []);
  assert.match(errorsIn("---\nname: a\neffort: huge\n---\nDo it.\n").join(), /2?: ?effort/);
});
