// Slows down whoever presents wrong keys: each failure of an address is told later than the one before.

const firstMs = 25;
const longestMs = 2_000;
/** After so long without a failure an address begins anew. */
const forgetMs = 60_000;
const maxAddresses = 4_096;
const maxWaiting = 64;
const maxWaitingEach = 8;

interface Peer {
  count: number;
  at: number;
  waiting: number;
}

/** Only failures wait: a good key is answered at once, whatever else comes from its address. */
export class FailedAttempts {
  readonly #peers = new Map<string, Peer>();
  readonly #waiting = new Set<() => void>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Resolves when the failure may be told; false, at once, when too many are waiting already. */
  slow(address: string): Promise<boolean> {
    const peer = this.#peerOf(address);
    peer.count = this.#now() - peer.at > forgetMs ? 1 : peer.count + 1;
    peer.at = this.#now();
    if (this.#waiting.size >= maxWaiting || peer.waiting >= maxWaitingEach) return Promise.resolve(false);
    const ms = Math.min(longestMs, firstMs * 2 ** Math.min(peer.count - 1, 16));
    peer.waiting += 1;
    return new Promise((resolve) => {
      const tell = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(tell);
        peer.waiting -= 1;
        resolve(true);
      };
      const timer = setTimeout(tell, ms);
      this.#waiting.add(tell);
    });
  }

  /** Tells everybody who waits now. */
  close(): void {
    for (const tell of this.#waiting) tell();
  }

  #peerOf(address: string): Peer {
    const known = this.#peers.get(address) ?? { count: 0, at: this.#now(), waiting: 0 };
    // The one that failed last stands last, so that the one forgotten is the one that was quiet longest.
    this.#peers.delete(address);
    this.#peers.set(address, known);
    if (this.#peers.size > maxAddresses) {
      const [oldest] = this.#peers.keys();
      if (oldest !== undefined) this.#peers.delete(oldest);
    }
    return known;
  }
}
