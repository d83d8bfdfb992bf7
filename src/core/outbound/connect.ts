// A connection to a checked address: it is looked up here, once, and pinned, so that no second answer of a name server can
// lead the connection elsewhere (decisions §8, DNS rebinding).
import type { LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { resolveAny, resolvePublic, type Lookup, type Reach } from './address.ts'

/** Milliseconds before the next address is tried; Node's own 250 is less than a round trip around the world. */
const NEXT_ADDRESS_MS = 1000

interface ConnectWith {
  readonly reach: Reach
  readonly signal: AbortSignal
  readonly lookup?: Lookup | undefined
  /** PEM; replaces the certificate authorities that Node trusts. */
  readonly ca?: string | undefined
  /** An open connection to the same host, used if the address rule still permits its address. */
  readonly kept?: (() => Socket | undefined) | undefined
}

/** `reason` completes "the endpoint was not reached: …", and names no address. */
type Connection = { readonly socket: Socket } | { readonly reason: string }

/** A connection, fresh or kept, with TLS already agreed for https. Nothing of this request has been sent. */
export async function connect(
  url: URL,
  { reach, signal, lookup, ca, kept }: ConnectWith,
): Promise<Connection> {
  const resolve = reach === 'public' ? resolvePublic : resolveAny
  const resolved = await Promise.race([resolve(url.hostname, lookup), aborted(signal)])
  if (resolved === 'aborted') return { reason: 'its name did not resolve in time' }
  if ('problem' in resolved) return { reason: `${resolved.problem} (${resolved.code})` }

  const open = kept?.()
  if (resolved.addresses.some(({ address }) => address === open?.remoteAddress) && open !== undefined)
    return { socket: open }
  open?.destroy()
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const secure = url.protocol === 'https:'
  const tcp = connectTcp({
    host,
    port: Number(url.port) || (secure ? 443 : 80),
    lookup: pinned(resolved.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
  })
  const connection = await opened(tcp, 'connect', signal)
  if ('reason' in connection || !secure) return connection
  const tls = connectTls({
    socket: tcp,
    host,
    // SNI carries names only (RFC 6066 §3); an address is checked against the certificate by `host`.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // Independent of the environment (NODE_TLS_REJECT_UNAUTHORIZED).
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })
  return opened(tls, 'secureConnect', signal)
}

/** Returns the addresses that were resolved before, on every call. */
function pinned(addresses: readonly LookupAddress[]): LookupFunction {
  return (_, options, callback) => {
    const [first] = addresses
    if (options.all === true || first === undefined) callback(null, [...addresses])
    else callback(null, first.address, first.family)
  }
}

function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Connection> {
  return new Promise((resolve) => {
    const giveUp = () => {
      socket.destroy()
      resolve({ reason: 'no connection in time' })
    }
    // Never removed: an error between two listeners would end the process.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      resolve({ reason: error.code ?? 'the connection failed' })
    })
    socket.once('close', () => resolve({ reason: 'the connection was closed' }))
    socket.once(event, () => {
      signal.removeEventListener('abort', giveUp)
      resolve({ socket })
    })
    if (signal.aborted) giveUp()
    else signal.addEventListener('abort', giveUp, { once: true })
  })
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}
