// Listens on the service's address: uWebSockets.js where its binary loads, node:http elsewhere (docs/design-notes.md "Limits of the listeners").
import type UWebSockets from 'uWebSockets.js'
import { errorText } from '../../../formats/text/error-text.ts'
import { headBytesMax } from './guard.ts'
import type { ListenOptions, Listener } from './listener.ts'
import { listenNode } from './node.ts'
import { listenUws } from './uws.ts'

export type * from './listener.ts'
export type { DropReason } from './refused.ts'

/** @throws Error that names the address that cannot be listened on, or the server that does not load */
export async function listen(options: ListenOptions): Promise<Listener> {
  if (options.server === 'node:http') return listenNode(options)
  let uws: typeof UWebSockets
  try {
    // The binary reads this variable when it loads; its default of 4 KB is too little for a head that comes in several pieces.
    process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(headBytesMax)
    uws = (await import('uWebSockets.js')).default
  } catch (cause) {
    const because = whyNotLoaded(cause)
    if (options.server === undefined) return { ...(await listenNode(options)), because }
    throw new Error(because, { cause })
  }
  return listenUws(uws, options)
}

/** uWebSockets.js is an optional dependency, and its binary needs glibc 2.38, no musl and a Node that it was built for. */
function whyNotLoaded(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND')
    return 'uWebSockets.js is not installed'
  return `uWebSockets.js does not load on this machine: ${errorText(cause).replaceAll(/\s+/g, ' ')}`
}
