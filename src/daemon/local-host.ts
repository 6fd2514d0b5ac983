// The command line's access to this machine. Each part is imported when it is first used, so that commands start fast.

import { homedir } from "node:os";

import type { Host } from "../host/host.ts";
import { takeLock } from "../store/sqlite/lock.ts";
import { pruneTrees } from "../store/sqlite/prune-trees.ts";
import { openView } from "../store/sqlite/sqlite-view.ts";
import { clusterEnvironment } from "./cluster/cluster-environment.ts";
import { openCommandDocuments } from "./documents/documents-of.ts";
import { removeInsight } from "./insight/insight-database.ts";
import { isNodeFolder, readNodeSettings, refuseNodeFolder } from "./state/node-settings.ts";
import { openReader } from "./state/reader.ts";

// Before anything is started: no process that inherits the environment of this one has the secrets of a cluster.
clusterEnvironment();

export const localHost: Host = {
  openReader(folder) {
    refuseNodeFolder(folder);
    return openReader(openView(folder), folder);
  },
  async openLocal(folder) {
    refuseNodeFolder(folder);
    return (await import("./lifecycle/work-here.ts")).workHere(folder);
  },
  async cancel(folder, task, reason) {
    refuseNodeFolder(folder);
    const { openState } = await import("./state/open-state.ts");
    const { client } = await openState(folder, { resume: "never" });
    try {
      return await client.cancel(task, reason);
    } finally {
      await client.close();
    }
  },
  async openIdle(folder) {
    refuseNodeFolder(folder);
    const { openState } = await import("./state/open-state.ts");
    return (await openState(folder, { resume: "never" })).client;
  },
  findDaemon: async (folder) => (await import("./lifecycle/find-daemon.ts")).findDaemon(folder),
  findOwner: async (folder) => (await import("./lifecycle/active-owner.ts")).activeOwner(folder),
  lastDaemon: async (folder) => (await import("./lifecycle/find-daemon.ts")).lastDaemon(folder),
  connect: async (folder) => (await import("./lifecycle/find-daemon.ts")).connectDaemon(folder),
  daemonFetch: async (folder) => (await import("./lifecycle/find-daemon.ts")).daemonFetch(folder),
  startDaemon: async (options) => (await import("./lifecycle/start-daemon.ts")).startDaemon(options),
  runDaemon: async (options, onUp) => (await import("./lifecycle/serve-daemon.ts")).serveDaemon(options, onUp),
  stopDaemon: async (folder, options) => (await import("./lifecycle/stop-daemon.ts")).stopDaemon(folder, options),
  sharesRecords: isNodeFolder,
  async prune(folder, options) {
    const node = readNodeSettings(folder);
    if (node !== undefined) {
      return (await import("../store/postgres/prune-trees.ts")).pruneDatabase(node.address, options);
    }
    const lock = takeLock(folder);
    try {
      // What is gone must not be found any more.
      removeInsight(folder);
      return pruneTrees(folder, options);
    } finally {
      lock.release();
    }
  },
  importRecords: async (folder, database, onProgress) =>
    (await import("./lifecycle/move-records.ts")).importRecords(folder, database, onProgress),
  exportRecords: async (folder, database, onProgress) =>
    (await import("./lifecycle/move-records.ts")).exportRecords(folder, database, onProgress),
  checkSharedDatabase: async (folder, database) =>
    (await import("./project/check-shared-database.ts")).checkSharedDatabase(folder, database),
  openBrowser: async (folder, url) => (await import("./lifecycle/open-browser.ts")).openBrowser(folder, url),
  async storedKeys(folder) {
    await openCommandDocuments(folder);
    const place = isNodeFolder(folder)
      ? "the database of the cluster, sealed with its key"
      : `${folder}, readable by you alone`;
    return { place, ...(await import("./secrets/provider-keys.ts")).openProviderKeys(folder) };
  },
  addModelServer: async (options) => (await import("./project/add-model-server.ts")).addModelServer(homedir(), options),
  async clusterKey(folder) {
    const { clusterKeyFile, findClusterKey, nextKeyFile, readNextKey } = await import("./cluster/find-cluster-key.ts");
    // Loaded only when they are needed, with the driver of the database.
    const opening = () => import("./cluster/open-cluster-key.ts");
    return {
      file: clusterKeyFile(folder),
      read: () => findClusterKey({ folder })?.text,
      keep: async (text) => (await opening()).keepGivenKey(folder, text),
      nextFile: nextKeyFile(folder),
      readNext: () => readNextKey(folder)?.text,
      keepNext: async (text) => (await opening()).keepGivenNextKey(folder, text),
      rotate: async (options) => (await import("./cluster/rotate-cluster-key.ts")).rotateClusterKey(folder, options),
    };
  },
  async setup(options) {
    await openCommandDocuments(options.state);
    return (await import("./project/describe-setup.ts")).describeSetup(options);
  },
  async openProject(from, options) {
    await openCommandDocuments(options.state);
    const daemonAt = async (state: string): Promise<string | undefined> =>
      (await (await import("./lifecycle/find-daemon.ts")).findDaemon(state))?.url;
    return (await import("./project/open-project.ts")).openProject(from, { ...options, daemonAt });
  },
  async standingApprovals(folder) {
    await openCommandDocuments(folder);
    const kept = (await import("./project/kept-approvals.ts")).keptApprovals(folder);
    return { list: async () => kept.list(), revoke: (id) => kept.revoke(id) };
  },
  async trustedSettings(folder) {
    await openCommandDocuments(folder);
    return (await import("./project/trusted-settings.ts")).openTrustedSettings(folder).list();
  },
  async trustedServers(folder) {
    await openCommandDocuments(folder);
    const { openAgreedServers } = await import("./project/agreed-servers.ts");
    return openAgreedServers(folder)
      .list()
      .filter(({ refused }) => !refused)
      .map(({ project, name, hash, at, offer }) => ({
        folder: project,
        server: name,
        hash,
        at,
        tools: offer?.tools.length ?? 0,
      }));
  },
  async trustedConfigs(folder) {
    await openCommandDocuments(folder);
    return (await import("./project/trusted-configs.ts")).openTrust(folder).list();
  },
};
