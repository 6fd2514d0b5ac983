// An operator: it joins Tutti, agrees to every task, and launches worker.js for each task that it is given.
// Run it (Node 22 or newer): TUTTI_KEY="$(cat ~/.tutti/admin.key)" node operator.js http://127.0.0.1:7878 builder session.json
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [base, role, file] = process.argv.slice(2);
/** Answers by request id: a request that is delivered again gets the same answer and launches no second worker. */
const requests = new Map();

async function call(path, token, body = {}) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const reply = await fetch(base + path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!reply.ok) throw Object.assign(new Error(`${path}: ${await reply.text()}`), { status: reply.status });
  return reply.json();
}

/** The operator session outlives this process. With its token, the operator comes back to the requests that are still open. */
async function join() {
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8"));
  const joined = await call("/v1/operators", process.env.TUTTI_KEY, { roles: [role] });
  writeFileSync(file, JSON.stringify(joined), { mode: 0o600 });
  return joined;
}

async function answerTo(frame) {
  if (frame.type === "hook_before") return { type: "hook_ack", req_id: frame.req_id, ok: true };
  const env = { PATH: process.env.PATH, WORKER_HANDLE: frame.worker_handle, BASE_URL: base, TASK_ID: frame.task_id };
  const child = spawn(process.execPath, [`${import.meta.dirname}/worker.js`], { env, stdio: "inherit" });
  const code = await new Promise((resolve) => child.once("close", resolve));
  const outcome = code === 0 ? { value: {}, ok: true } : { ok: false, error: `the worker ended with ${code}` };
  return { type: "spawn_ack", req_id: frame.req_id, ...outcome };
}

async function serve({ sid, token }) {
  const { ticket } = await call(`/v1/operators/${sid}/ticket`, token);
  const socket = new WebSocket(`${base.replace("http", "ws")}/v1/operators/${sid}/ws?ticket=${ticket}`, "tutti.v1");
  const say = (answer) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(answer));
  // The last connection may have lost answers, so all are sent again; the first answer counts.
  socket.onopen = () => requests.forEach((answer) => answer.then(say));
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    console.log(frame.type, frame.task_id ?? frame.message);
    if (frame.type !== "hook_before" && frame.type !== "spawn") return; // Asks are left to people.
    if (!requests.has(frame.req_id)) requests.set(frame.req_id, answerTo(frame));
    requests.get(frame.req_id).then(say);
    if (requests.size > 1000) requests.delete(requests.keys().next().value);
  };
  await new Promise((resolve) => (socket.onclose = resolve));
}

const session = await join();
for (;;) {
  await serve(session).catch((error) => {
    if (error.status === 404) rmSync(file); // The session has ended, as it does after a day without a connection; the next start joins again.
    if (error.status === 401 || error.status === 404) throw error;
    console.error(String(error.message));
  });
  await sleep(500);
}
