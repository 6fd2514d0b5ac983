// LangGraph with its SQLite saver.
import { open as openLanggraph } from "./langgraph.peer.js";

export const open = (options) => openLanggraph({ ...options, durable: true });
