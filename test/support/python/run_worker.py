"""A worker: it counts the words of its prompt, slowly enough that its handle has to be renewed, and asks a question."""

import json
import os
import time

from wire import persistently

BASE, HANDLE, TASK = os.environ["BASE_URL"], os.environ["WORKER_HANDLE"], os.environ["TASK_ID"]
SECONDS = float(os.environ.get("WORK_SECONDS", "0"))


def work():
    prompt = persistently(BASE, "GET", f"/v1/worker/prompt?task_id={TASK}", HANDLE)
    if "fail once" in prompt["prompt"] and prompt["attempt"] == 1:
        return persistently(BASE, "POST", "/v1/worker/submit?ok=false", HANDLE, "the first attempt is bound to fail")
    method, path = prompt["lease"]["renew"].split()
    end, count = time.monotonic() + SECONDS, 0
    while True:
        count += 1
        event = {"type": "progress", "text": f"step {count}"}
        persistently(BASE, method, path, HANDLE, {"events": [event], "key": f"step-{count}"})
        if time.monotonic() >= end:
            break
        time.sleep(prompt["lease"]["lease_ms"] / 1000 / 4)
    question = {"key": "colour", "question": {"question": "Which colour?", "choices": ["blue", "red"]}, "wait_ms": 5000}
    answer = {"state": "waiting"}
    while answer["state"] == "waiting":
        answer = persistently(BASE, "POST", "/v1/worker/ask", HANDLE, question)
    used = {"type": "usage", "input_tokens": 40, "output_tokens": 2, "money_micro_usd": 5}
    persistently(BASE, "POST", "/v1/worker/events", HANDLE, {"events": [used], "key": "used"})
    words = len(prompt["prompt"].split())
    return persistently(BASE, "POST", "/v1/worker/submit", HANDLE, f"{words} words, {answer.get('value')}")


outcome = {"error": "the worker crashed"}
try:
    work()
    outcome = {}
finally:
    # Whoever watches this worker may have been started after it, so the outcome is left in a file, which appears whole.
    with open(os.environ["OUTCOME"] + ".part", "w", encoding="utf-8") as file:
        json.dump(outcome, file)
    os.rename(os.environ["OUTCOME"] + ".part", os.environ["OUTCOME"])
