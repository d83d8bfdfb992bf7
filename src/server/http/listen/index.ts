// Listens on the service's address: uWebSockets.js where its binary loads, node:http elsewhere (docs/design-notes.md "Limits of the listeners").
import type UWebSockets from 'uWebSockets.js'
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
    // The binary reads this when it loads; its own 4 KB is too little for a head that comes in several pieces.
    process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(headBytesMax)
    uws = (await import('uWebSockets.js')).default
  } catch (cause) {
    // An older glibc than 2.38, musl, or a Node it has no binary for.
    if (options.server === undefined) return listenNode(options)
    throw new Error('uWebSockets.js does not load on this machine', { cause })
  }
  return listenUws(uws, options)
}
