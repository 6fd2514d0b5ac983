// The process of `asOrdinaryUser`: runs one command as root, which loads the code, gives root up, and runs the other.
import { localHost } from "../../src/daemon/local-host.ts";
import { main } from "../../src/cli/main.ts";
import { userMark } from "./ordinary-user.ts";

const { args, loads, uid } = JSON.parse(process.argv[2] ?? "") as { args: string[]; loads: string[]; uid: number };
const host = async () => localHost;

await main(loads, host);
if (process.exitCode === undefined || process.exitCode === 0) {
  process.stdout.write(userMark);
  process.stderr.write(userMark);
  process.exitCode = undefined;
  process.setgroups?.([]);
  process.setgid?.(uid);
  process.setuid?.(uid);
  await main(args, host);
}
