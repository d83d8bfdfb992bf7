// How far fsck is, on standard error: a bar that is drawn over itself on a terminal, a line every few seconds anywhere else.
import type { WriteStream } from 'node:tty'
import type { Progress } from './run.ts'

const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 5_000
const BAR_CELLS = 20

interface ProgressLine {
  readonly show: (progress: Progress) => void
  /** Takes the bar away, before something else is printed. */
  readonly clear: () => void
}

/**
 * @param options.unit the unit that is counted
 * @param options.nowMs any clock that does not go back
 */
export function openProgress(
  out: Pick<WriteStream, 'write' | 'isTTY'>,
  {
    unit = 'rows',
    nowMs = () => performance.now(),
  }: { readonly unit?: string; readonly nowMs?: () => number } = {},
): ProgressLine {
  const everyMs = out.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS
  let shownAtMs = nowMs()
  let drawn = false
  return {
    show(progress) {
      if (nowMs() - shownAtMs < everyMs) return
      shownAtMs = nowMs()
      drawn = out.isTTY
      out.write(out.isTTY ? `\r\x1b[2K${barOf(progress, unit)}` : `${lineOf(progress, unit)}\n`)
    },
    clear() {
      if (drawn) out.write('\r\x1b[2K')
      drawn = false
    },
  }
}

function barOf(progress: Progress, unit: string): string {
  const { rows, about } = progress
  if (about === undefined) return lineOf(progress, unit)
  const full = Math.round(BAR_CELLS * Math.min(1, rows / about))
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}] ${lineOf(progress, unit)}`
}

function lineOf({ table, rows, about }: Progress, unit: string): string {
  return `${table}: ${rows}${about === undefined ? '' : ` of about ${Math.round(about)}`} ${unit}`
}
