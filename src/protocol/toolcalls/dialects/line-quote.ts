// Tells whether a place in a reply is quoted on its line: in code, after a quotation mark, or in a quotation.

/** How far the text was looked at, and what its line was like up to there. Places must be asked for in their order. */
export interface LineQuote {
  at: number;
  /** An odd number of backticks stands before the place on its line. */
  inCode: boolean;
  /** The line begins with `>`. */
  inQuotation: boolean;
  /** Only blanks stand before the place on its line. */
  blank: boolean;
  /** How far the line is indented. Four columns make it code. */
  indent: number;
}

export function newLineQuote(): LineQuote {
  return { at: 0, inCode: false, inQuotation: false, blank: true, indent: 0 };
}

const openingMarks = "\u201c\u2018\u00ab\u201e";
/** What stands before a straight quotation mark that opens a quotation. Before one that closes it stands its text. */
const beforeQuotation = " \t\r\n([{=:,";

export function isQuotedAt(state: LineQuote, text: string, at: number): boolean {
  for (; state.at < at; state.at += 1) {
    const code = text.charCodeAt(state.at);
    if (code === 0x0a) restart(state);
    else if (code === 0x60) {
      state.inCode = !state.inCode;
      state.blank = false;
    } else if (code === 0x3e && state.blank) state.inQuotation = true;
    else if (code !== 0x20 && code !== 0x09 && code !== 0x0d) state.blank = false;
    else if (state.blank) state.indent += code === 0x09 ? 4 : 1;
  }
  const inIndentedCode = state.indent >= 4;
  return state.inCode || state.inQuotation || inIndentedCode || followsOpeningMark(text, at);
}

function followsOpeningMark(text: string, at: number): boolean {
  const mark = text.charAt(at - 1);
  if (mark === '"' || mark === "'") return at < 2 || beforeQuotation.includes(text.charAt(at - 2));
  return mark !== "" && openingMarks.includes(mark);
}

/** Goes on after a call, whose own text quotes nothing. */
export function passTo(state: LineQuote, at: number): void {
  state.at = at;
  restart(state);
}

function restart(state: LineQuote): void {
  state.inCode = false;
  state.inQuotation = false;
  state.blank = true;
  state.indent = 0;
}
