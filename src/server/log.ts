// The log: JSON lines on standard output, buffered while there is load, written whole at the end.
import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'

export interface Log {
  readonly logger: Logger
  /** Writes the buffered lines, as the last step before the process ends. */
  readonly flush: () => void
}

const STDOUT = 1
/** How many bytes may wait for one write: a write per request would cost more than the request's own log line. */
const BUFFER_BYTES = 4096
/** How long a line may wait when nothing follows it. */
const FLUSH_MS = 100
/** The bytes that may wait for a reader that does not keep up; beyond them lines are lost. */
const WAITING_BYTES_MAX = 1024 * 1024
/** How long the end waits for such a reader. */
const LAST_FLUSH_MS = 1_000

/**
 * Not pino's own destination: its flushSync(), which a fatal line calls too, waits for the disk, and once the reader of our output
 * is gone (`| head`) it tries again for ever, with the thread asleep (sonic-boom 4.2).
 */
export function openLog(level: string): Log {
  let lines = ''
  let unsent: Buffer = Buffer.alloc(0)

  function flush(): void {
    const bytes = Buffer.concat([unsent, Buffer.from(lines)])
    lines = ''
    unsent = unsentOf(bytes)
  }

  const destination = {
    write(line: string): void {
      if (unsent.length + lines.length > WAITING_BYTES_MAX) return
      lines += line
      if (lines.length > BUFFER_BYTES) flush()
    },
  }
  const timer = setInterval(flush, FLUSH_MS)
  timer.unref()
  return {
    logger: pino({ level, base: null, timestamp }, destination),
    flush() {
      clearInterval(timer)
      const deadline = performance.now() + LAST_FLUSH_MS
      do flush()
      while (unsent.length > 0 && performance.now() < deadline)
    },
  }
}

function timestamp(): string {
  return `,"time":"${new Date().toISOString()}"`
}

/** Writes what standard output takes now. A reader that has gone or a full disk costs the log, never the service. */
function unsentOf(bytes: Buffer): Buffer {
  let rest = bytes
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest))
    return rest
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? rest : Buffer.alloc(0)
  }
}
