// The files in deploy/: they can be read by their tools, and what they call exists.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { X509Certificate } from "node:crypto";

import { parse, parseAllDocuments } from "yaml";

import { tempFolder } from "./support/temp-folder.ts";

const root = join(import.meta.dirname, "..");
const deploy = join(root, "deploy");
const read = (name: string): string => readFileSync(join(deploy, name), "utf8");

test("the script of a container starts a node with a certificate of its own, which only it can read", (t) => {
  const folder = tempFolder(t);
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "tutti"), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(join(bin, "tutti"), 0o755);
  const state = join(folder, "state");
  const env = {
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    TUTTI_STATE: state,
    TUTTI_NODE: "pod-0",
    TUTTI_ADDRESS: "10.1.2.3",
    TUTTI_PUBLIC_URL: "https://tutti.example",
  };
  const start = (): string[] =>
    execFileSync("sh", [join(deploy, "start-node.sh"), "--grace", "20"], { env, encoding: "utf8" })
      .trim()
      .split("\n");
  const args = start();
  assert.equal(args[0], "up");
  const valueOf = (name: string): string | undefined => args[args.indexOf(name) + 1];
  assert.deepEqual(["--node", "--advertise", "--public-url", "--grace", "--state"].map(valueOf), [
    "pod-0",
    "https://10.1.2.3:7878",
    "https://tutti.example",
    "20",
    state,
  ]);
  const certificate = readFileSync(join(state, "node.crt"), "utf8");
  assert.equal(new X509Certificate(certificate).subject, "CN=pod-0");
  assert.equal(statSync(join(state, "node.key")).mode & 0o077, 0);
  start();
  assert.equal(readFileSync(join(state, "node.crt"), "utf8"), certificate, "the second start keeps it");

  const help = execFileSync(process.execPath, [join(root, "bin", "tutti.js"), "up", "--help"], { encoding: "utf8" });
  for (const option of args.filter((arg) => arg.startsWith("--"))) assert.ok(help.includes(option), option);
});

test("the compose file and the manifest have what the script needs, and only routes that the daemon has", () => {
  const compose = parse(read("compose.yaml"), { merge: true });
  const nodes = Object.entries<{ environment: Record<string, string> }>(compose.services).filter(([name]) =>
    name.startsWith("node-"),
  );
  assert.equal(nodes.length, 3);
  for (const [name, { environment }] of nodes) {
    assert.deepEqual(
      Object.keys(environment).toSorted(),
      ["TUTTI_CLUSTER_KEY", "TUTTI_DATABASE", "TUTTI_NODE", "TUTTI_PUBLIC_URL"],
      name,
    );
    assert.ok(read("Caddyfile").includes(`https://${name}:7878`), name);
  }
  const documents = parseAllDocuments(read("kubernetes.yaml")).map((document) => document.toJS());
  const [set] = documents.filter(({ kind }) => kind === "StatefulSet");
  const [container] = set.spec.template.spec.containers;
  const names: string[] = container.env.map(({ name }: { name: string }) => name);
  for (const name of names) assert.ok(read("start-node.sh").includes(name) || ["TUTTI_DATABASE"].includes(name), name);
  assert.deepEqual(
    [container.readinessProbe.httpGet.path, container.livenessProbe.httpGet.path],
    ["/readyz", "/healthz"],
  );
  for (const { kind, spec } of documents.filter(({ kind }) => kind === "Service")) {
    assert.deepEqual(spec.selector, set.spec.selector.matchLabels, kind);
  }
});
