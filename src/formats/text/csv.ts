// Lines of comma-separated values (RFC 4180), for spreadsheets. Browser-safe.

export type Cell = string | number | boolean | null

/** @returns the line with its line break */
export function lineOf(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

/** A spreadsheet computes a text with such a beginning, and callers choose texts. */
const FORMULA = /^[=+\-@\t\r]/

export function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
