// Declares the commands for MCP: Tutti as a server, and the servers whose tools agents have.
import { type Command, Option } from "commander";

import type { Host } from "../../host/host.ts";
import type { KeyRole } from "../../protocol/api/service.ts";
import type { McpOptions } from "../commands/mcp-command.ts";
import type { McpListOptions } from "../commands/mcp-list.ts";
import type { McpLoginOptions } from "../commands/mcp-login.ts";
import { jsonOption, projectOption, stateOption } from "../options.ts";

// Repeated here, so that help does not have to load every schema.
const roles: readonly KeyRole[] = ["viewer", "operator", "admin"];

export function declareMcpCommands(program: Command, host: () => Promise<Host>): void {
  const mcp = program
    .command("mcp")
    // So that options after `list` are those of `list`.
    .enablePositionalOptions()
    .description("serve Tutti's tools to an MCP client on standard input and output; starts a daemon if need be")
    .addOption(
      new Option("--role <role>", "what the client may do: look, also start and answer, or also approve")
        .choices(roles)
        .default("operator"),
    )
    .option("--cwd <folder>", "where relative paths of the client begin (default: the current folder)")
    .addOption(stateOption())
    .addOption(new Option("--json", "print an error of the command itself as a JSON object"))
    .action(async (options: McpOptions) => {
      const { mcpCommand } = await import("../commands/mcp-command.ts");
      await mcpCommand(await host(), options);
    });
  mcp
    .command("list")
    .description("list the MCP servers of the project, and whether they are trusted; starts none")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: McpListOptions) => {
      const { mcpListCommand } = await import("../commands/mcp-list.ts");
      await mcpListCommand(await host(), options);
    });
  mcp
    .command("login")
    .argument("[server]", "the name of the server; without it, those that one can log in to are listed")
    .description("log in at an MCP server that asks who you are")
    .option("--issuer <url>", "the authorization server that the login may go to; on a terminal you are asked")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (server: string | undefined, options: McpLoginOptions) => {
      const { mcpLoginCommand } = await import("../commands/mcp-login.ts");
      await mcpLoginCommand(await host(), server, options);
    });
  mcp
    .command("logout")
    .argument("[server]", "the name of the server; without it, all logins of this project are forgotten")
    .description("forget the login at an MCP server")
    .addOption(projectOption())
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (server: string | undefined, options: McpLoginOptions) => {
      const { mcpLogoutCommand } = await import("../commands/mcp-logout.ts");
      await mcpLogoutCommand(await host(), server, options);
    });
}
