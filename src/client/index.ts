// The public surface of `tutti/client`: what a program needs to talk to a running Tutti, in Node and in a browser.

export type { Delivered, FollowItem, FollowOptions, Reader, Tutti } from "./client.ts";
export { httpClient, type HttpClientOptions } from "./http-client.ts";
export {
  type HookVerdict,
  joinOperator,
  type OperatorConnection,
  type OperatorEnd,
  type OperatorHandlers,
  type OperatorOptions,
  operatorSocket,
  type SpawnReply,
} from "./operator-client.ts";
export { type WorkerClient, workerClient, type WorkerOptions } from "./worker-client.ts";
export { type ErrorCode, TuttiError } from "../protocol/error.ts";
