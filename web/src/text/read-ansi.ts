// Reads the colours that a program writes for a terminal. What else a terminal would obey is left out and shows nothing.

/** Text in one style. `fg` and `bg` are colours of the theme, 0 to 15; other colours come as the nearest of them. */
export interface StyledText {
  readonly text: string;
  readonly fg?: number;
  readonly bg?: number;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
}

type Style = Omit<StyledText, "text">;

/**
 * A sequence that a terminal obeys: CSI, OSC and the other strings up to their end, or a two-character escape. A sequence
 * without an end is not one, and its escape stays as a character that the page shows by its number. Each part excludes the
 * character that ends it, so that matching takes linear time.
 */
const sequence =
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  /\u001b(?:\[([0-9;:]{0,64})([\u0020-\u002f]{0,8}[\u0040-\u007e])|\[[?><=][0-9;]{0,64}[\u0040-\u007e]|[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)|[\u0020-\u002f]{0,4}[0-9A-OQ-WYZ`-~])/g;

function hasAnsi(text: string): boolean {
  return text.includes("\u001b");
}

export function readAnsi(text: string): readonly StyledText[] {
  if (!hasAnsi(text)) return text === "" ? [] : [{ text }];
  const pieces: StyledText[] = [];
  let style: Style = {};
  let from = 0;
  for (const match of text.matchAll(sequence)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), ...style });
    from = match.index + match[0].length;
    if (match[2] === "m") style = styled(style, match[1] ?? "");
  }
  if (from < text.length) pieces.push({ text: text.slice(from), ...style });
  return pieces;
}

function styled(before: Style, parameters: string): Style {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number);
  let style = { ...before };
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0;
    if (code === 38 || code === 48) {
      const read = extendedColour(codes, index + 1);
      if (read.colour !== undefined) style = { ...style, [code === 38 ? "fg" : "bg"]: read.colour };
      index = read.next - 1;
    } else {
      style = withCode(style, code);
    }
  }
  return style;
}

function withCode(style: Style, code: number): Style {
  const { fg: _fg, ...noFg } = style;
  const { bg: _bg, ...noBg } = style;
  const { bold: _bold, dim: _dim, ...noWeight } = style;
  if (code === 0) return {};
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 3) return { ...style, italic: true };
  if (code === 4) return { ...style, underline: true };
  if (code === 22) return noWeight;
  if (code === 23) return { ...style, italic: false };
  if (code === 24) return { ...style, underline: false };
  if (code === 39) return noFg;
  if (code === 49) return noBg;
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  return style;
}

function extendedColour(codes: readonly number[], at: number): { colour: number | undefined; next: number } {
  if (codes[at] === 5) return { colour: nearestOf256(codes[at + 1] ?? 0), next: at + 2 };
  if (codes[at] === 2) {
    const [red = 0, green = 0, blue = 0] = codes.slice(at + 1, at + 4);
    return { colour: nearest(red, green, blue), next: at + 4 };
  }
  return { colour: undefined, next: at };
}

function nearestOf256(code: number): number {
  if (code < 16) return code;
  if (code >= 232) return nearest((code - 232) * 10 + 8, (code - 232) * 10 + 8, (code - 232) * 10 + 8);
  const cube = code - 16;
  const level = (part: number): number => (part === 0 ? 0 : part * 40 + 55);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** The theme decides how the sixteen colours look, so that they are readable on both backgrounds. */
function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  const bright = most > 170 ? 8 : 0;
  if (spread < 40) return most < 60 ? 0 : most < 140 ? 8 : most < 200 ? 7 : 15;
  const half = most / 2;
  return bright + (red > half ? 1 : 0) + (green > half ? 2 : 0) + (blue > half ? 4 : 0);
}
