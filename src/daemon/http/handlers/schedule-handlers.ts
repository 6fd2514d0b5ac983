// Lists, makes and removes schedules.

import type { HttpContext } from "../context.ts";
import type { Handlers } from "../handler.ts";
import { listPage } from "../list-page.ts";
import { ofCaller } from "./of-caller.ts";

type ScheduleRoute = "schedules" | "addSchedule" | "removeSchedule";

export function scheduleHandlers({ state: { client, keys } }: HttpContext): Pick<Handlers, ScheduleRoute> {
  return {
    async schedules({ query }) {
      const { items, next } = listPage(await client.schedules(), query, ({ id }) => id);
      return { value: { schedules: items, next } };
    },
    async addSchedule({ body, caller }) {
      const made = await client.addSchedule(body, ofCaller(keys, caller));
      return { value: made, status: made.existed ? 200 : 201 };
    },
    async removeSchedule({ params }) {
      await client.removeSchedule(params.schedule);
      return { value: { removed: true, schedule: params.schedule } };
    },
  };
}
