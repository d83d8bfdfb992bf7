// The address of a gateway that is started with --port, and the checks on its clients.
import { isIPv6 } from 'node:net'
import { isLoopbackLiteral } from '../core/outbound/address.ts'
import type { GatewayHttp } from './config.ts'

export const PATH = '/mcp'
/** The default listening host. */
export const LOOPBACK = '127.0.0.1'

/** The address that clients call and that access tokens are issued for. */
export const addressOf = ({ url, host = LOOPBACK }: GatewayHttp, port: number) =>
  url ?? `http://${inUrl(host)}:${port}${PATH}`

/**
 * Refuses settings that would open the tools to more clients than the operator intends, before anything is started.
 * @throws Error with a sentence that names the member or the option
 */
export function assertServable(
  http: GatewayHttp,
  { unauthenticated }: { readonly unauthenticated: boolean },
): void {
  const isLoopback = isLoopbackHost(http.host ?? LOOPBACK)
  if (unauthenticated && http.tokenIssuers !== undefined)
    throw new Error('--unauthenticated and http.tokenIssuers exclude each other: leave one of them out.')
  if (unauthenticated && !isLoopback)
    throw new Error(
      '--unauthenticated is for this machine alone: leave http.host out, or name http.tokenIssuers.',
    )
  // An address on another host means a proxy that others can reach.
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
/** @param host a listening host, or the hostname of an address */
const isLoopbackHost = (host: string) => host === 'localhost' || isLoopbackLiteral(inUrl(host))
