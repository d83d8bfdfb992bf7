// A stranger's text for the operator's terminal: without line breaks, escape codes or changes of direction of its own.

/**
 * Control characters (C0, DEL, C1), format characters (bidi, zero width, soft hyphen, tags), line and paragraph separators,
 * surrogates and private use. Listed by number, not by property: the same set in every engine, and in clients/python.
 */
const NOT_PRINTABLE =
  // oxlint-disable-next-line no-control-regex -- they are what is replaced
  /[\0-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu

/** One line of text, in which each such character is replaced. */
export function printable(line: string): string {
  return line.replaceAll(NOT_PRINTABLE, '\ufffd')
}

/** JSON text of the same value, in which each such character is escaped; its own line breaks are kept. */
export function printableJson(text: string): string {
  return text.replaceAll(NOT_PRINTABLE, (character) =>
    character === '\n'
      ? character
      : character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
