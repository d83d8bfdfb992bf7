// Who makes a call: the program that started a gateway, or whoever a token names.
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server'

/** Calls of two clients are never one. */
export interface ClientOf {
  /** A caller by token is named as at the service, with its principal where that is another. */
  readonly caller: string
  /** What a caller began anew is another wish: a session of the revisions of 2025 is one of its caller's. */
  readonly session: string
  /** On whose authority calls are made; undefined: the gateway's own. */
  readonly principalId?: string
}

/** Of standard input and output there is one: this program was started for it. */
export const STDIO: ClientOf = { caller: 'stdio', session: 'stdio' }

/** A request by HTTP whose client is known. */
interface Known {
  readonly client: ClientOf
  /** Calls back when the whole reply was handed to the network, and not where the client was gone before. */
  readonly onSent: (callback: () => void) => void
}

/** What the SDK carries to the handlers of a request. No token is in it: nothing behind could pass it on. */
export const authInfoOf = (known: Known): AuthInfo => ({
  token: '',
  clientId: known.client.caller,
  scopes: [],
  extra: { known },
})

/** Has also `onSent` know who is to be told when the reply to a request has gone out. */
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

/** Calls back when the reply to a request of this client has gone out, as `whenSent`. */
export function whenReplied(authInfo: AuthInfo | undefined, callback: () => void): void {
  knownIn(authInfo)?.onSent(callback)
}

/** @throws Error for a request that did not come by `authInfoOf` */
export function clientIn(authInfo: AuthInfo | undefined): ClientOf {
  const known = knownIn(authInfo)
  if (known === undefined) throw new Error('The client of a request is not known.')
  return known.client
}

/** Calls back when the reply to a request, which its handler returns next, has gone out, and not where the client was gone before. */
export function whenSent({ http }: ServerContext, callback: () => void): void {
  const known = knownIn(http?.authInfo)
  if (known !== undefined) return known.onSent(callback)
  let isGone = false
  const gone = () => (isGone = true)
  process.stdout.once('error', gone)
  // The reply is written before, at once, and a pipe that nobody reads from any more has failed by then.
  setImmediate(() => {
    process.stdout.off('error', gone)
    if (!isGone) callback()
  })
}

const knownIn = (authInfo: AuthInfo | undefined) => authInfo?.extra?.['known'] as Known | undefined
