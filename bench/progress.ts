// What a person sees while the bench works: a bar on a terminal, else a line for each scenario. On standard error.

export interface Progress {
  /** Something whose time is not known. */
  readonly doing: (what: string) => void
  /** Something that takes about so many seconds. */
  readonly during: <Result>(what: string, seconds: number, work: () => Promise<Result>) => Promise<Result>
  /** Wipes the bar. */
  readonly end: () => void
}

const BAR_WIDTH = 28
const REDRAW_MS = 200

/** in  totalSeconds  of all `during` together */
export function openProgress(totalSeconds: number, out: NodeJS.WriteStream = process.stderr): Progress {
  let doneSeconds = 0
  let named = ''
  const draw = (what: string, runningSeconds: number) => {
    const share = Math.min(1, (doneSeconds + runningSeconds) / totalSeconds)
    const full = Math.round(share * BAR_WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`
    const left = Math.max(0, Math.round(totalSeconds - doneSeconds - runningSeconds))
    const line = `${bar} ${String(Math.round(share * 100)).padStart(3)} %  ${left} s left  ${what}`
    out.write(`\r\u001B[K${line.slice(0, (out.columns || 100) - 1)}`)
  }
  const doing = (what: string) => {
    if (out.isTTY) return draw(what, 0)
    const [name = what] = what.split(':')
    if (name !== named) out.write(`bench: ${name}\n`)
    named = name
  }
  return {
    doing,
    async during(what, seconds, work) {
      doing(what)
      const startMs = performance.now()
      const timer = out.isTTY
        ? setInterval(() => draw(what, Math.min(seconds, (performance.now() - startMs) / 1000)), REDRAW_MS)
        : undefined
      try {
        return await work()
      } finally {
        clearInterval(timer)
        doneSeconds += seconds
      }
    },
    end() {
      if (out.isTTY) out.write('\r\u001B[K')
    },
  }
}
