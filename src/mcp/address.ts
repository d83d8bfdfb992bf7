// Where a gateway that is started with --port is reached, and by whom.
import { isIPv6 } from 'node:net'
import { isLoopbackLiteral } from '../core/outbound/address.ts'
import type { GatewayHttp } from './config.ts'

export const PATH = '/mcp'
/** Where it listens if nothing is said. */
export const LOOPBACK = '127.0.0.1'

/** What its clients call, and tokens are issued for. */
export const addressOf = ({ url, host = LOOPBACK }: GatewayHttp, port: number) =>
  url ?? `http://${inUrl(host)}:${port}${PATH}`

/**
 * Finds what would open the tools to others than the operator means, before anything is started.
 * @throws Error with a sentence that names the member or the option
 */
export function assertServable(
  http: GatewayHttp,
  { unauthenticated }: { readonly unauthenticated: boolean },
): void {
  const isLoopback = isLoopbackHost(http.host ?? LOOPBACK)
  if (unauthenticated && http.tokenIssuers !== undefined)
    throw new Error('http.tokenIssuers names who may call: leave --unauthenticated out, or the issuers.')
  if (unauthenticated && !isLoopback)
    throw new Error(
      '--unauthenticated is for this machine alone: leave http.host out, or name http.tokenIssuers.',
    )
  // Behind it stands a proxy that others reach.
  if (unauthenticated && http.url !== undefined && !isLoopbackHost(URL.parse(http.url)?.hostname ?? ''))
    throw new Error(
      '--unauthenticated is for this machine alone: leave http.url out, or name http.tokenIssuers.',
    )
  if (!unauthenticated && http.tokenIssuers === undefined)
    throw new Error(
      '--port needs http.tokenIssuers in the file of the gateway, or --unauthenticated on this machine alone.',
    )
  if (!isLoopback && http.url === undefined)
    throw new Error('http.url must be given with http.host: it is the address that tokens are issued for.')
}

const inUrl = (host: string) => (isIPv6(host) ? `[${host}]` : host)
/** @param host as it is listened on, or as in an address */
const isLoopbackHost = (host: string) => host === 'localhost' || isLoopbackLiteral(inUrl(host))
