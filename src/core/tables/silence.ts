// Notices a database that has gone silent: connections that stay open and bring nothing, as when a network swallows packets. No error
// and no end says so, and each statement would wait for its own time-out, with all that queue behind it (docs/handbook/operating.md
// "Several instances").
import { Socket } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError, type ClientConfig, type Pool } from 'pg'

const LOOK_EVERY_MS = 250
/** A pool in use that has heard nothing for so long asks, by a connection of its own: a statement may just take its time. */
const SILENT_MS = 1_000
/** How long it waits for an answer: longer than a busy server needs for a new connection. */
const ANSWER_MAX_MS = 3_000
/** Where there was one. */
const ASK_AGAIN_MS = 1_000
/** And while there is none: how soon the service is back. */
const RETRY_MS = 250

interface Silence {
  /** For `PoolConfig.stream`: the sockets that are watched. */
  readonly stream: () => Socket
  /**
   * From now on a pool whose database is silent loses all its connections, and makes no new ones until the database answers: what
   * waits fails as `isUnavailable`, and what comes fails at once. Costs a timer, and nothing on the way of a statement.
   */
  readonly watch: (pool: Pool) => void
}

/** in  config  how to reach the database */
export function openSilence(config: ClientConfig): Silence {
  /** How much each connection had brought when it was last looked at. */
  const sockets = new Map<Socket, number>()
  let silent = false

  function stream(): Socket {
    if (silent) return new Unconnectable()
    const socket = new Socket()
    sockets.set(socket, 0)
    socket.once('close', () => sockets.delete(socket))
    return socket
  }

  /** Whether any connection brought anything since this was last asked. */
  function heard(): boolean {
    let any = false
    for (const [socket, before] of sockets) {
      any ||= socket.bytesRead !== before
      sockets.set(socket, socket.bytesRead)
    }
    return any
  }

  function watch(pool: Pool): void {
    let askAtMs = 0
    let asking = false
    const looking = setInterval(() => {
      if (pool.ended) clearInterval(looking)
      else if (!asking) look()
    }, LOOK_EVERY_MS).unref()

    function look(): void {
      const nowMs = performance.now()
      const used = pool.totalCount > pool.idleCount
      // What was never answered fails by itself, with its own reason.
      const open = sockets.values().some((bytes) => bytes > 0)
      if (heard() || !used || !open) askAtMs = nowMs + SILENT_MS
      else if (nowMs >= askAtMs) void ask()
    }

    async function ask(): Promise<void> {
      asking = true
      const answered = await answers(config)
      // A thread that was busy finds the time-out before what arrived in the meantime.
      await setImmediate()
      if (!answered && !heard()) await beSilent(pool)
      askAtMs = performance.now() + ASK_AGAIN_MS
      asking = false
    }
  }

  async function beSilent(pool: Pool): Promise<void> {
    silent = true
    for (const socket of sockets.keys()) socket.destroy(unanswered())
    while (!pool.ending && !(await answers(config))) await delay(RETRY_MS, undefined, { ref: false })
    silent = false
  }

  return { stream, watch }
}

/** Fails at once, as pg fails where it had waited for a connection. */
class Unconnectable extends Socket {
  override connect(): this {
    return this.destroy(unanswered())
  }
}

function unanswered(): Error {
  return new Error('Connection terminated by a timeout: the database does not answer')
}

/** Whether a new connection hears from the database: a refusal is an answer too. */
async function answers(config: ClientConfig): Promise<boolean> {
  let client: Client | undefined
  try {
    // A certificate that its URL names is read here, and may be gone.
    client = new Client({ ...config, connectionTimeoutMillis: ANSWER_MAX_MS })
    client.on('error', () => undefined)
    await client.connect()
    return true
  } catch (error) {
    return error instanceof DatabaseError
  } finally {
    // Not waited for: an end is said to the database, and it may not answer that either.
    void client?.end().catch(() => undefined)
  }
}
