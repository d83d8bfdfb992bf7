// A connection that calls of one endpoint share, one after the other. For repeatable calls only: the server may close it while a
// request is on its way, and then it is unknown whether the request had an effect.
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Agent } from './node-http.ts'

/** Less than the five seconds after which many servers close an idle connection. */
const IDLE_MS_MAX = 4_000

export class KeptConnection extends Agent {
  private fresh: Socket | undefined

  constructor() {
    super({ keepAlive: true, maxFreeSockets: 1, timeout: IDLE_MS_MAX })
  }

  /** The open connection that no call uses. */
  readonly idle = (): Socket | undefined => Object.values(this.freeSockets).flat()[0]

  /** Sets a new connection for the next call. */
  use(socket: Socket): void {
    this.fresh = socket
  }

  override createConnection(): Duplex | undefined {
    return this.fresh
  }
}
