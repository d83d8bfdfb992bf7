// Text of strangers is shown so that every character can be seen, and none changes how those beside it are read.
import { shownMoney, shownValue } from '../core/policy/shown.ts'
import { printable, printableJson } from '../formats/text/printable.ts'

export { shownMoney, shownValue }

/** One line, for headings and cells. What cannot be seen is a replacement character. */
export function oneLine(text: string): string {
  return printable(text)
}

/** The sentence that the catalogue has of an action, with its amount as amounts are written everywhere; other words may follow it. */
export function shownSummary(sentence: string, amount: number | undefined): string {
  const summary = sentence.replace(/\.$/, '')
  if (amount === undefined) return summary
  // As a word of its own: never a part of a name, or of a text in quotation marks.
  const plain = new RegExp(`(?<=^|\\s)${String(amount).replaceAll('.', '\\.')}(?=\\s|[.,;]?$)`)
  return summary.replace(plain, shownMoney(amount, undefined))
}

/** JSON text of a value, with what cannot be seen as an escape. */
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

/** To the millisecond, for what takes less than a second: `2026-11-24 04:30:00.250 UTC`. */
export function exact(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 23).replace('T', ' ')} UTC`
}

/** `2026-11-24 04:30:00 UTC`. */
export function absolute(iso: string): string {
  const date = new Date(iso)
  return Number.isNaN(date.getTime()) ? iso : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}
