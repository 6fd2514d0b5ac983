// Shows output while a command runs: in whole characters and in batches, never more than a screen can follow.

import { StringDecoder } from "node:string_decoder";

const everyMs = 100;
/** The most characters of one batch; what comes faster is counted and not shown. */
const batchLength = 16_384;

interface LiveOutput {
  add(stream: "stdout" | "stderr", chunk: Buffer): void;
  /** Shows the rest; nothing is shown after that. */
  end(): void;
}

export function liveOutput(show: (text: string) => void): LiveOutput {
  const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  let pending = "";
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let over = false;

  const take = (text: string): void => {
    const room = batchLength - pending.length;
    const cut = text.length <= room ? text.length : wholeLength(text, room);
    // After a drop nothing more is added to the batch, so that the gap is where the note says it is.
    const shown = dropped > 0 ? "" : text.slice(0, cut);
    pending += shown;
    dropped += text.length - shown.length;
  };
  const flush = (): void => {
    timer = undefined;
    if (pending === "" && dropped === 0) return;
    const text = dropped === 0 ? pending : `${pending}\n[… ${dropped} characters not shown …]\n`;
    pending = "";
    dropped = 0;
    timer = setTimeout(flush, everyMs).unref();
    show(text);
  };

  return {
    add(stream, chunk) {
      if (over) return;
      take(decoders[stream].write(chunk));
      if (timer === undefined) flush();
    },
    end() {
      if (over) return;
      over = true;
      take(decoders.stdout.end());
      take(decoders.stderr.end());
      clearTimeout(timer);
      flush();
      clearTimeout(timer);
    },
  };
}

/** At most `length` code units, without splitting a surrogate pair. */
function wholeLength(text: string, length: number): number {
  const last = text.charCodeAt(length - 1);
  return length > 0 && last >= 0xd800 && last <= 0xdbff ? length - 1 : length;
}
