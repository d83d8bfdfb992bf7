// The client that makes a call: the program that started the gateway, or the caller that a token names.
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** Calls of two clients are never treated as the same call. */
export interface ClientOf {
  /** For a caller by token: its callerId at the service, followed by the principal where the two differ. */
  readonly caller: string
  /** An equal call in another session is a new call. Clients of the 2025 revisions have sessions; for other clients this is the caller. */
  readonly session: string
  /** The principal on whose authority calls are made; undefined: the gateway's own. */
  readonly principalId?: string
}

/** The only client on standard input and output: the program that started the gateway. */
export const STDIO: ClientOf = { caller: 'stdio', session: 'stdio' }

/** A request by HTTP whose client is known. */
interface Known {
  readonly client: ClientOf
  /** Calls back when the whole reply was handed to the network; never where the client disconnected before. */
  readonly onSent: (callback: () => void) => void
}

/** The data that the SDK passes to the handlers of a request. It holds no token, so no handler can pass a token on. */
export const authInfoOf = (known: Known): AuthInfo => ({
  token: '',
  clientId: known.client.caller,
  scopes: [],
  extra: { known },
})

/** Adds an observer that receives each `onSent` callback of a request. */
export function withObserver(
  authInfo: AuthInfo | undefined,
  observe: (callback: () => void) => void,
): AuthInfo | undefined {
  const known = knownIn(authInfo)
  if (known === undefined) return authInfo
  return authInfoOf({
    client: known.client,
    onSent(callback) {
      observe(callback)
      known.onSent(callback)
    },
  })
}

/** Calls back when the reply to a request of this client has been sent, as `whenSent` does. */
export function whenReplied(authInfo: AuthInfo | undefined, callback: () => void): void {
  knownIn(authInfo)?.onSent(callback)
}

/** @throws Error for a request whose `AuthInfo` was not made by `authInfoOf` */
export function clientIn(authInfo: AuthInfo | undefined): ClientOf {
  const known = knownIn(authInfo)
  if (known === undefined) throw new Error('The client of a request is not known.')
  return known.client
}

/** Calls back when the reply that the handler returns next has been sent; never where the client disconnected before. */
export function whenSent({ http }: ServerContext, callback: () => void): void {
  const known = knownIn(http?.authInfo)
  if (known !== undefined) return known.onSent(callback)
  let isGone = false
  const gone = () => (isGone = true)
  process.stdout.once('error', gone)
  // The reply is written before this callback runs, and a pipe without a reader has failed by then.
  setImmediate(() => {
    process.stdout.off('error', gone)
    if (!isGone) callback()
  })
}

const knownIn = (authInfo: AuthInfo | undefined) => authInfo?.extra?.['known'] as Known | undefined
