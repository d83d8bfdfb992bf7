// Shows text of strangers so that every character is visible, and no character changes how its neighbours are read.
import { shownMoney, shownValue } from '../core/policy/shown.ts'
import { printable, printableJson } from '../formats/text/printable.ts'

export { shownMoney, shownValue }

/** One line, for headings and cells. Invisible characters become replacement characters. */
export function oneLine(text: string): string {
  return printable(text)
}

/** The catalogue's sentence for an action, with its amount in the usual notation and without the final period: other words may follow. */
export function shownSummary(sentence: string, amount: number | undefined): string {
  const summary = sentence.replace(/\.$/, '')
  if (amount === undefined) return summary
  // Matches the amount only as a separate word: never a part of a name, or of a text in quotation marks.
  const plain = new RegExp(`(?<=^|\\s)${String(amount).replaceAll('.', '\\.')}(?=\\s|[.,;]?$)`)
  return summary.replace(plain, shownMoney(amount, undefined))
}

/** JSON text of a value, with invisible characters as escapes. */
export function jsonText(value: unknown, indent?: number): string {
  return printableJson(JSON.stringify(value, null, indent) ?? '')
}

/** `in 5 min`, `3 h ago`. */
export function relative(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs
  if (Number.isNaN(ms)) return ''
  const [amount, unit] = largest(Math.abs(ms) / 1000)
  if (unit === 's' && amount < 5) return 'now'
  return ms > 0 ? `in ${amount} ${unit}` : `${amount} ${unit} ago`
}

function largest(seconds: number): [number, string] {
  if (seconds < 60) return [Math.floor(seconds), 's']
  if (seconds < 3600) return [Math.floor(seconds / 60), 'min']
  if (seconds < 48 * 3600) return [Math.floor(seconds / 3600), 'h']
  return [Math.floor(seconds / 86_400), 'days']
}

/** To the millisecond, for steps that take less than a second: `2026-11-24 04:30:00.250 UTC`. */
export function exact(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 23).replace('T', ' ')} UTC`
}

/** `2026-11-24 04:30:00 UTC`. */
export function absolute(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
