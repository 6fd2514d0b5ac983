// Tutti through its public library, with every step on disk.
import { open as openTutti } from "./tutti.peer.js";

export const open = (options) => openTutti({ ...options, durable: true });
