// Declares the commands for the daemon: starting and stopping it, its status, its API keys and its operators.
import { type Command, Option } from "commander";

import type { Host } from "../../host/host.ts";
import type { KeyRole } from "../../protocol/api/service.ts";
import type { KeyGrant } from "../../protocol/invocation/by-program.ts";
import type { ClusterKeyRotateOptions } from "../commands/cluster-key-rotate.ts";
import type { ClusterKeySetOptions } from "../commands/cluster-key-set.ts";
import type { ClusterKeyShowOptions } from "../commands/cluster-key-show.ts";
import type { DownOptions } from "../commands/down.ts";
import type { KeysAddOptions } from "../commands/keys-add.ts";
import type { KeysListOptions } from "../commands/keys-list.ts";
import type { KeysRevokeOptions } from "../commands/keys-revoke.ts";
import type { NodesOptions } from "../commands/nodes.ts";
import type { OperatorsOptions } from "../commands/operators.ts";
import type { PauseOptions } from "../commands/pause.ts";
import type { ResumeOptions } from "../commands/resume.ts";
import type { StatusOptions } from "../commands/status.ts";
import type { UpCommandOptions } from "../commands/up.ts";
import {
  connectionCount,
  graceSeconds,
  jsonOption,
  mebibytes,
  portNumber,
  positiveInteger,
  stateOption,
} from "../options.ts";

// Repeated here, so that help does not have to load every schema.
const roles: readonly KeyRole[] = ["viewer", "operator", "admin"];
const grants: readonly KeyGrant[] = ["force-runners", "any-folder", "own-rules"];

const graceOption = (): Option =>
  new Option(
    "--grace <seconds>",
    "how long running steps may take to finish when the daemon stops (default: 10)",
  ).argParser(graceSeconds);

export function declareServiceCommands(program: Command, host: () => Promise<Host>): void {
  program
    .command("up")
    .description("run the daemon; other commands then work through it")
    .option("--detach", "run it in a process of its own; its log is daemon.log in the state folder")
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .addOption(
      new Option("--port <number>", "the port; 0 for any free one (default: 7878, or a free one)").argParser(
        portNumber,
      ),
    )
    .option("--tls-cert <file>", "the TLS certificate (PEM); needed if other machines may connect")
    .option("--tls-key <file>", "the key of the certificate (PEM)")
    .option("--insecure", "let other machines connect without TLS")
    .option("--public-url <url>", "the address for workers and browsers, if it is behind a proxy or listens on 0.0.0.0")
    .option("--log-level <level>", "trace, debug, info, warn or error (default: info)")
    .addOption(graceOption())
    .addOption(
      new Option(
        "--min-free <mib>",
        "refuse new work when less of the state's disk is free (default: 200 MiB or 1 % of the disk, whichever is less)",
      ).argParser(mebibytes),
    )
    .addOption(
      new Option("--max-connections <number>", "how many connections there may be at a time (default: 4096)").argParser(
        connectionCount,
      ),
    )
    .addOption(
      new Option(
        "--max-requests <number>",
        "how many requests and streams one key may have in flight (default: 512)",
      ).argParser(positiveInteger),
    )
    .option(
      "--database <url>",
      "be a node of many that share this PostgreSQL (postgres://…, or $TUTTI_DATABASE); it is kept in the state folder for the next start",
    )
    .option(
      "--cluster-key-file <file>",
      "the key that all nodes have; it is kept in the state folder (also: $TUTTI_CLUSTER_KEY, `tutti cluster-key set`)",
    )
    .option("--project <name=folder...>", "a project that lies in another folder on other nodes, by a name they share")
    .option("--schema <name>", "the schema of the database that holds everything of this Tutti (default: tutti)")
    .option("--node <name>", "the name of this node, unique among the nodes (default: the host name and four digits)")
    .option("--advertise <url>", "where the other nodes reach this one, if not where it listens")
    .option("--label <label...>", "what this node has, for work that asks for it")
    .addOption(
      new Option(
        "--lease <seconds>",
        "how long the others wait before they take over the work of this node when they do not hear of it (default: 15)",
      ).argParser(graceSeconds),
    )
    .option(
      "--cwd <folder>",
      "where relative paths begin in requests that name no folder (default: the current folder)",
    )
    .option("--tour", "then play the tour: a goal from start to report, without a model (`npm start` does this)")
    .option("--no-tour", "do not play the tour")
    .option("--tour-only", "end after the tour")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: UpCommandOptions) => {
      const { upCommand } = await import("../commands/up.ts");
      await upCommand(await host(), options);
    });
  program
    .command("down")
    .description("stop the daemon; unfinished tasks go on at the next start")
    .addOption(graceOption())
    .option("--force", "kill it if it hangs; nothing that was recorded is lost")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: DownOptions) => {
      const { downCommand } = await import("../commands/down.ts");
      await downCommand(await host(), options);
    });
  program
    .command("status")
    .description("show whether the daemon runs, and how many tasks are unfinished")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: StatusOptions) => {
      const { statusCommand } = await import("../commands/status.ts");
      await statusCommand(await host(), options);
    });
  declareClusterKey(program, host);
  program
    .command("nodes")
    .description("list the nodes that share a database: which live, what each runs, its lease and how far it is behind")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: NodesOptions) => {
      const { nodesCommand } = await import("../commands/nodes.ts");
      await nodesCommand(await host(), options);
    });
  declarePause(program, host);
  declareKeys(program, host);
  program
    .command("operators")
    .description("list the operators: people and programs that have joined to approve tasks, answer and do work")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: OperatorsOptions) => {
      const { operatorsCommand } = await import("../commands/operators.ts");
      await operatorsCommand(await host(), options);
    });
}

function declareClusterKey(program: Command, host: () => Promise<Host>): void {
  const key = program
    .command("cluster-key")
    .description(
      "give a node the key that all nodes of a database have and that opens the secrets there, or change that key",
    );
  key
    .command("show")
    .description(
      "print the key of this node, for `tutti cluster-key set` on another: pipe it there, keep it out of logs",
    )
    .option("--next", "the key that the cluster is to have next")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: ClusterKeyShowOptions) => {
      const { clusterKeyShowCommand } = await import("../commands/cluster-key-show.ts");
      await clusterKeyShowCommand(await host(), options);
    });
  key
    .command("set")
    .description("keep the key that another node printed; it is read from the standard input, or asked for unseen")
    .option("--next", "keep it as the key that the cluster is to have next; `tutti cluster-key rotate` makes it count")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: ClusterKeySetOptions) => {
      const { clusterKeySetCommand } = await import("../commands/cluster-key-set.ts");
      await clusterKeySetCommand(await host(), options);
    });
  key
    .command("rotate")
    .description(
      "give the cluster another key: what the old one seals is sealed with the new one, all of it or nothing",
    )
    .option("--force", "do not wait until every node has the new key; nodes without it stop")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: ClusterKeyRotateOptions) => {
      const { clusterKeyRotateCommand } = await import("../commands/cluster-key-rotate.ts");
      await clusterKeyRotateCommand(await host(), options);
    });
}

function declarePause(program: Command, host: () => Promise<Host>): void {
  program
    .command("pause")
    .description("begin no new work until `tutti resume`, also after a restart; running steps finish")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: PauseOptions) => {
      const { pauseCommand } = await import("../commands/pause.ts");
      await pauseCommand(await host(), options);
    });
  program
    .command("resume")
    .argument("[task]", "a task that was stopped; without it, everything goes on after a pause")
    .description("go on after `tutti pause`, or with a task after `tutti stop`")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (task: string | undefined, options: ResumeOptions) => {
      const { resumeCommand } = await import("../commands/resume.ts");
      await resumeCommand(await host(), task, options);
    });
}

function declareKeys(program: Command, host: () => Promise<Host>): void {
  const keys = program.command("keys").description("list, add and revoke the API keys of the daemon");
  keys
    .command("list")
    .description("list the keys by name and role, also the revoked ones; the keys themselves are not shown")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (options: KeysListOptions) => {
      const { keysListCommand } = await import("../commands/keys-list.ts");
      await keysListCommand(await host(), options);
    });
  keys
    .command("add")
    .argument("<name>", "a name that says what the key is for")
    .description("make a key for a program and print it; it is shown only this once")
    .addOption(
      new Option("--role <role>", "viewer: read; operator: also start tasks and join; admin: also keys and shutdown")
        .choices(roles)
        .makeOptionMandatory(),
    )
    .option("--person", "a person uses the key: what is asked with it is never put to a person again")
    .addOption(
      new Option("--may <what...>", "what a program may do with the key without a person's yes").choices(grants),
    )
    .option("--folder <path...>", "folders that the work of a program may touch without a person's yes")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (name: string, options: KeysAddOptions) => {
      const { keysAddCommand } = await import("../commands/keys-add.ts");
      await keysAddCommand(await host(), name, options);
    });
  keys
    .command("revoke")
    .argument("<id>", "the id of the key, from `tutti keys list`")
    .description("revoke a key; it stops working at once")
    .addOption(stateOption())
    .addOption(jsonOption())
    .action(async (id: string, options: KeysRevokeOptions) => {
      const { keysRevokeCommand } = await import("../commands/keys-revoke.ts");
      await keysRevokeCommand(await host(), id, options);
    });
}
