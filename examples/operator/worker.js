// A worker: it fetches its prompt, reports progress, does the work and posts the result. This one counts the words of its prompt.
import { setTimeout as sleep } from "node:timers/promises";

const { WORKER_HANDLE, BASE_URL, TASK_ID } = process.env;

/** Every call may be repeated: the first result wins, and the same result again changes nothing. */
async function call(path, options = {}) {
  for (let tries = 1; ; tries += 1) {
    try {
      const headers = { authorization: `Bearer ${WORKER_HANDLE}`, ...options.headers };
      const reply = await fetch(BASE_URL + path, { ...options, headers });
      if (reply.ok) return await reply.json();
      const text = await reply.text();
      // A 4xx is final: the attempt has ended, or belongs to another worker.
      if (reply.status < 500) throw Object.assign(new Error(`${reply.status} ${text}`), { final: true });
      throw new Error(text);
    } catch (error) {
      if (error.final || tries === 60) throw error;
      await sleep(Math.min(100 * tries, 1000)); // The daemon may be restarting.
    }
  }
}

const progress = (text) =>
  call("/v1/worker/events", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events: [{ type: "progress", text }] }),
  });

const { prompt } = await call(`/v1/worker/prompt?task_id=${encodeURIComponent(TASK_ID)}`);
await progress("counting");
const words = prompt.split(/\s+/).filter((word) => word !== "");
const body = `${words.length} words`;
console.log(await call("/v1/worker/submit", { method: "POST", headers: { "content-type": "text/plain" }, body }));
