// Tutti through its public library, with every step on disk, and a tool that must not run again after a crash.
import { open as openTutti } from "./tutti.peer.js";

export const open = (options) => openTutti({ ...options, durable: true, repeatable: false });
