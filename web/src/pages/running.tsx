// How long something has been under way, as it goes on.

import type { ReactNode } from "react";

import { duration } from "../format/show-time.ts";
import { useNow } from "../ui/controls.tsx";

export function Running({ since }: { readonly since: number }): ReactNode {
  return duration(Math.max(0, useNow() - since));
}
