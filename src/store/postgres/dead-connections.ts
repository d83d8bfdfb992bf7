// Dead-connection detection: a network that drops packets silently leaves connections open that carry nothing. No error reports it,
// and every statement would wait for its own timeout. The timeouts alone do not suffice: see docs/design-notes.md "When the database
// is away".
import { Socket } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError, type ClientConfig, type Pool } from 'pg'

const CHECK_EVERY_MS = 250
/** A pool in use that receives nothing for this long is probed on a new connection: a statement may just be slow. */
const QUIET_MS = 1_000
/** The probe's timeout: longer than a busy server needs for a new connection. */
const PROBE_TIMEOUT_MS = 3_000
/** The pause after a probe that was answered. */
const PROBE_AGAIN_MS = 1_000
/** The pause between probes while none is answered: bounds how soon the pool is used again. */
const RETRY_MS = 250

interface DeadConnections {
  /** For `PoolConfig.stream`: the sockets that are watched. */
  readonly stream: () => Socket
  /**
   * Starts watching. While the database does not answer, the pool's connections are closed and new ones fail at once, so that both
   * pending and new work fails as `isUnavailable`. Costs one timer per pool and nothing per statement.
   */
  readonly watch: (pool: Pool) => void
}

/** @param config how to reach the database, for the probe */
export function detectDeadConnections(config: ClientConfig): DeadConnections {
  /** The bytes that each connection had received at the last check. */
  const sockets = new Map<Socket, number>()
  let dead = false

  function stream(): Socket {
    if (dead) return new Unconnectable()
    const socket = new Socket()
    sockets.set(socket, 0)
    socket.once('close', () => sockets.delete(socket))
    return socket
  }

  /** Whether any connection has received anything since the last call. */
  function hasReceived(): boolean {
    let any = false
    for (const [socket, before] of sockets) {
      any ||= socket.bytesRead !== before
      sockets.set(socket, socket.bytesRead)
    }
    return any
  }

  function watch(pool: Pool): void {
    let probeAtMs = 0
    let probing = false
    const checking = setInterval(() => {
      if (pool.ended) clearInterval(checking)
      else if (!probing) check()
    }, CHECK_EVERY_MS).unref()

    function check(): void {
      const nowMs = performance.now()
      const used = pool.totalCount > pool.idleCount
      // A connection that was never answered times out on its own, with its own reason.
      const open = sockets.values().some((bytes) => bytes > 0)
      if (hasReceived() || !used || !open) probeAtMs = nowMs + QUIET_MS
      else if (nowMs >= probeAtMs) void probe()
    }

    async function probe(): Promise<void> {
      probing = true
      const answered = await answers(config)
      // A thread that was busy runs its timeout before it reads what has arrived in the meantime.
      await setImmediate()
      if (!answered && !hasReceived()) await closeUntilAnswered(pool)
      probeAtMs = performance.now() + PROBE_AGAIN_MS
      probing = false
    }
  }

  async function closeUntilAnswered(pool: Pool): Promise<void> {
    dead = true
    for (const socket of sockets.keys()) socket.destroy(unanswered())
    while (!pool.ending && !(await answers(config))) await delay(RETRY_MS, undefined, { ref: false })
    dead = false
  }

  return { stream, watch }
}

/** Fails at once, with the error that pg would report after its connection timeout. */
class Unconnectable extends Socket {
  override connect(): this {
    return this.destroy(unanswered())
  }
}

function unanswered(): Error {
  return new Error('Connection terminated by a timeout: the database does not answer')
}

/** Whether the database answers a new connection; a refusal is an answer. */
async function answers(config: ClientConfig): Promise<boolean> {
  let client: Client | undefined
  try {
    // Reads a certificate that the URL names, and the file may be gone: inside the try.
    client = new Client({ ...config, connectionTimeoutMillis: PROBE_TIMEOUT_MS })
    client.on('error', () => undefined)
    await client.connect()
    return true
  } catch (error) {
    return error instanceof DatabaseError
  } finally {
    // Not awaited: the database may not answer the goodbye either.
    void client?.end().catch(() => undefined)
  }
}
