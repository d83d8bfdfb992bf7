// A connection that calls of one endpoint share, one after the other. For calls that may be repeated: the server may close it while a
// request is on its way, and whether that had an effect is then not known.
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

  /** Takes a new connection, for the call that follows. */
  use(socket: Socket): void {
    this.fresh = socket
  }

  override createConnection(): Duplex | undefined {
    return this.fresh
  }
}
