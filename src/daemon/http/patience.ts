// How long a request that waits may wait: until its time is up, the caller is gone, or the service stops.

export class Patience {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #off: () => void;
  #over = false;

  constructor(given: AbortSignal, ms: number) {
    const controller = new AbortController();
    const abort = (): void => controller.abort(given.reason);
    this.signal = controller.signal;
    this.#timer = setTimeout(() => {
      this.#over = true;
      controller.abort();
    }, ms);
    given.addEventListener("abort", abort);
    this.#off = () => given.removeEventListener("abort", abort);
    if (given.aborted) abort();
  }

  /** It was the time that ended it. */
  get over(): boolean {
    return this.#over;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#off();
  }
}
