// An abort signal with a time limit: it follows another signal, and says whether it was the time that ended it.

export class TimeoutSignal {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #removeListener: () => void;
  #timedOut = false;

  constructor(parent: AbortSignal, ms: number) {
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(parent.reason);
    this.signal = controller.signal;
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      controller.abort();
    }, ms);
    parent.addEventListener("abort", onAbort);
    this.#removeListener = () => parent.removeEventListener("abort", onAbort);
    if (parent.aborted) onAbort();
  }

  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** Stops the timer; unlike that of `AbortSignal.timeout` it does not run on when the wait was short. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#removeListener();
  }
}
