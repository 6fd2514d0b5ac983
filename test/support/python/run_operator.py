"""An operator: it joins, agrees to tasks, answers questions, launches a worker for each spawn, and outlives crashes.

Usage: TUTTI_KEY=... python3 run_operator.py BASE_URL ROLE FOLDER [--crash-after-launch]
"""

import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid

from wire import Closed, Refused, WebSocket, call, persistently

BASE, ROLE, FOLDER = sys.argv[1:4]
CRASHES = "--crash-after-launch" in sys.argv
HERE = os.path.dirname(os.path.abspath(__file__))

# Replies by request id. A request that comes again gets the same reply, and no second worker.
replies = {}
lock = threading.Lock()
connection = None


def path_of(name):
    return os.path.join(FOLDER, name)


def write(name, value):
    with open(path_of(name) + ".part", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.rename(path_of(name) + ".part", path_of(name))


def read(name):
    try:
        with open(path_of(name), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def join():
    """The idempotency key is kept before it is used: a join whose answer was lost gives the same session again."""
    key = read("key.json") or str(uuid.uuid4())
    write("key.json", key)
    headers = {"Idempotency-Key": key}
    return persistently(BASE, "POST", "/v1/operators", os.environ["TUTTI_KEY"], {"roles": [ROLE]}, headers=headers)


def reply(frame):
    with lock:
        replies[frame["req_id"]] = frame
        if connection is not None:
            try:
                connection.send(frame)
            except OSError:
                pass  # It is sent again over the next connection.


def watch(req_id, outcome):
    """Acknowledges when the worker has finished."""
    while not os.path.exists(outcome):
        time.sleep(0.05)
    with open(outcome, encoding="utf-8") as file:
        error = json.load(file).get("error")
    failed = {} if error is None else {"ok": False, "error": error}
    reply({"type": "spawn_ack", "req_id": req_id, "value": {}, **failed})


def watch_later(req_id, outcome):
    threading.Thread(target=watch, args=(req_id, outcome), daemon=True).start()


def launch(frame):
    req_id = frame["req_id"]
    launched = read("launched.json") or {}
    if req_id in launched:
        return
    outcome = path_of(hashlib.sha256(req_id.encode()).hexdigest()[:16])
    launched[req_id] = outcome
    environment = {
        **{name: os.environ[name] for name in ("PATH", "WORK_SECONDS", "PYTHONDONTWRITEBYTECODE") if name in os.environ},
        "BASE_URL": BASE,
        "WORKER_HANDLE": frame["worker_handle"],
        "TASK_ID": frame["task_id"],
        "OUTCOME": outcome,
    }
    program = [sys.executable, os.path.join(HERE, "run_worker.py")]
    # A session and a log of its own: the worker goes on when the operator crashes.
    with open(path_of("worker.log"), "a", encoding="utf-8") as log:
        subprocess.Popen(program, env=environment, start_new_session=True, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    write("launched.json", launched)
    if CRASHES:
        os._exit(9)
    watch_later(req_id, outcome)


def handle(frame):
    print(frame["type"], frame.get("task_id", frame.get("message")), flush=True)
    req_id = frame.get("req_id")
    if frame["type"] in ("error", "hook_after"):
        return
    with lock:
        earlier = replies.get(req_id)
    if earlier is not None:
        reply(earlier)
    elif frame["type"] == "hook_before":
        reply({"type": "hook_ack", "req_id": req_id, "ok": True})
    elif frame["type"] == "ask":
        reply({"type": "answer", "req_id": req_id, "value": frame["question"]["choices"][0]})
    elif frame["type"] == "spawn":
        launch(frame)


def serve(session):
    global connection
    socket = WebSocket(BASE, f"/v1/operators/{session['sid']}/ws", session["token"], "tutti.v1")
    with lock:
        connection = socket
        for earlier in replies.values():
            socket.send(earlier)
    try:
        while True:
            handle(socket.receive())
    finally:
        with lock:
            connection = None
        socket.close()


def leave(*_):
    """An operator may end its own session, also with the API key that it joined with."""
    call(BASE, "DELETE", f"/v1/operators/{session['sid']}", os.environ["TUTTI_KEY"])
    os._exit(0)


session = join()
signal.signal(signal.SIGTERM, leave)
for request, result in (read("launched.json") or {}).items():
    watch_later(request, result)
while True:
    try:
        serve(session)
    except Closed as closed:
        print("closed", closed.code, flush=True)
        if closed.code in (1000, 4001):
            sys.exit(1)
    except Refused as refused:
        if refused.status in (401, 403, 404):
            raise
    except (OSError, http.client.HTTPException):
        pass
    time.sleep(0.2)
