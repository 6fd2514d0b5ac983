// The connection of the page to its daemon: the client, the cache of what was read, and the one event stream.

import { QueryClient } from "@tanstack/react-query";
import { createContext, useContext, useSyncExternalStore } from "react";

import { httpClient, type Service, service, type Tutti, TuttiError } from "../../../src/client/index.ts";
import { type FeedState, LiveFeed } from "../live/live-feed.ts";
import { LiveQueries } from "../live/live-queries.ts";

export interface Connection {
  readonly tutti: Tutti;
  readonly call: Service["call"];
  readonly queries: QueryClient;
  readonly live: LiveQueries;
  readonly feed: LiveFeed;
  close(): void;
}

const longestDelayMs = 5_000;

export function connect(token: string): Connection {
  const url = location.origin;
  // The page has its own way to wait for a service that is away, and says meanwhile that it is.
  const tutti = httpClient({ url, key: token, giveUpAfterMs: 0 });
  const { call } = service({ url, bearer: () => token });
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 15_000,
        gcTime: 60_000,
        refetchOnWindowFocus: false,
        networkMode: "always",
        retry: (failures, error) => isNotReady(error) || (failures < 3 && isPassing(error)),
        retryDelay: (failures) => Math.min(500 * 2 ** failures, longestDelayMs),
      },
      mutations: { networkMode: "always" },
    },
  });
  const live: LiveQueries = new LiveQueries(queries, () => feed);
  const feed: LiveFeed = new LiveFeed(tutti, {
    onEvents: (events) => live.fold(events),
    onReload: () => {
      live.forget();
      void queries.invalidateQueries();
    },
  });
  void feed.run();
  const wake = (): void => feed.retryNow();
  window.addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  return {
    tutti,
    call,
    queries,
    live,
    feed,
    close() {
      window.removeEventListener("online", wake);
      document.removeEventListener("visibilitychange", wake);
      feed.stop();
      queries.clear();
      void tutti.close();
    },
  };
}

/** What is asked about has only just been started, so it will be there. */
function isNotReady(error: unknown): boolean {
  return error instanceof TuttiError && error.code === "busy";
}

function isPassing(error: unknown): boolean {
  return error instanceof TuttiError && (error.code === "unreachable" || error.code === "slow_down");
}

export const ConnectionContext = createContext<Connection | undefined>(undefined);

export function useConnection(): Connection {
  const connection = useContext(ConnectionContext);
  if (connection === undefined) throw new Error("this part of the page is shown only while signed in");
  return connection;
}

export function useFeedState(): FeedState {
  const { feed } = useConnection();
  return useSyncExternalStore(feed.watchState, () => feed.state);
}
