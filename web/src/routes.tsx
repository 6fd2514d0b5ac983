// The addresses of all pages. A page beyond the first is loaded when it is opened.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";

import { HomePage } from "./pages/home/home-page.tsx";
import { NotFoundPage, ProblemPage } from "./pages/problem-pages.tsx";
import { Shell } from "./shell.tsx";

/** A value of the query of an address, which anybody may have written. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.length <= 300 ? value : undefined;
}

export function makeRouter(onSignOut: () => void) {
  const root = createRootRoute({ component: () => <Shell onSignOut={onSignOut} />, notFoundComponent: NotFoundPage });
  const home = createRoute({ getParentRoute: () => root, path: "/", component: HomePage });
  const board = createRoute({
    getParentRoute: () => root,
    path: "/board",
    component: lazyRouteComponent(() => import("./pages/board-page.tsx"), "BoardPage"),
  });
  const fleet = createRoute({
    getParentRoute: () => root,
    path: "/fleet",
    component: lazyRouteComponent(() => import("./pages/fleet/fleet-page.tsx"), "FleetPage"),
  });
  const search = createRoute({
    getParentRoute: () => root,
    path: "/search",
    validateSearch: (given: Record<string, unknown>) => ({ q: textOf(given["q"]) ?? "" }),
    component: lazyRouteComponent(() => import("./pages/search-page.tsx"), "SearchPage"),
  });
  const threads = createRoute({
    getParentRoute: () => root,
    path: "/threads",
    component: lazyRouteComponent(() => import("./pages/threads/threads-page.tsx"), "ThreadsPage"),
  });
  const thread = createRoute({
    getParentRoute: () => root,
    path: "/threads/$thread",
    component: lazyRouteComponent(() => import("./pages/threads/threads-page.tsx"), "ThreadsPage"),
  });
  const goal = createRoute({
    getParentRoute: () => root,
    path: "/goals/$goal",
    validateSearch: (search: Record<string, unknown>) => {
      const [view, evidence] = [textOf(search["view"]), textOf(search["evidence"])];
      return { ...(view === undefined ? {} : { view }), ...(evidence === undefined ? {} : { evidence }) };
    },
    component: lazyRouteComponent(() => import("./pages/goal/goal-page.tsx"), "GoalPage"),
  });
  const task = createRoute({
    getParentRoute: () => root,
    path: "/tasks/$task",
    validateSearch: (search: Record<string, unknown>) => {
      const view = textOf(search["view"]);
      return view === undefined ? {} : { view };
    },
    component: lazyRouteComponent(() => import("./pages/task/task-page.tsx"), "TaskPage"),
  });
  const ask = createRoute({
    getParentRoute: () => root,
    path: "/asks/$ask",
    component: lazyRouteComponent(() => import("./pages/ask-page.tsx"), "AskPage"),
  });
  const policy = createRoute({
    getParentRoute: () => root,
    path: "/policy",
    component: lazyRouteComponent(() => import("./pages/policy/policy-page.tsx"), "PolicyPage"),
  });
  const settings = createRoute({
    getParentRoute: () => root,
    path: "/settings",
    component: lazyRouteComponent(() => import("./pages/settings/settings-page.tsx"), "SettingsPage"),
  });
  const shortcuts = createRoute({
    getParentRoute: () => root,
    path: "/shortcuts",
    component: lazyRouteComponent(() => import("./pages/shortcuts-page.tsx"), "ShortcutsPage"),
  });
  const routeTree = root.addChildren([
    home,
    board,
    threads,
    thread,
    goal,
    task,
    ask,
    fleet,
    policy,
    settings,
    search,
    shortcuts,
  ]);
  return createRouter({
    routeTree,
    defaultErrorComponent: ({ error }) => (
      <ProblemPage error={error instanceof Error ? error : new Error(String(error))} />
    ),
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
