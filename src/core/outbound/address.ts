// The address rule of external connectors: https to public addresses, checked at registration, approval and each call (decisions §8).
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import ipaddr from 'ipaddr.js'

const URL_LENGTH_MAX = 2048

/** Registries list it as unicast, but the machine itself answers: Azure's wire server, which gives out secrets of the host. */
const CLOUD_INTERNAL = new Set(['168.63.129.16'])

const ADDRESS_REFUSED = 'ADDRESS_REFUSED'

/** Resolves as `node:dns` does: with the system's resolver, including the hosts file. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>

/** The addresses that may be connected to. `any` is for addresses of the operator, and for loopback literals outside production. */
export type Reach = 'public' | 'any'

type Resolved =
  { readonly addresses: readonly LookupAddress[] } | { readonly problem: string; readonly code: string }

/**
 * Checks an endpoint by its text alone.
 * @returns undefined, or the end of a sentence about the endpoint that begins with "must"
 */
export function endpointProblem(
  endpointUrl: string,
  { production }: { production: boolean },
): string | undefined {
  if (endpointUrl.length > URL_LENGTH_MAX) return `must be at most ${URL_LENGTH_MAX} characters`
  const url = URL.parse(endpointUrl)
  if (url === null) return 'must be an absolute URL'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials'
  if (url.href.includes('#')) return 'must not have a fragment'
  // It is shown to everyone who may list connectors, is signed, and is evidence: a secret in it would be disclosed.
  if (url.href.includes('?')) return 'must not have a query: no secret belongs there'
  if (url.protocol === 'http:' && (production || !isLoopbackLiteral(url.hostname)))
    return production
      ? 'must be https'
      : 'must be https, or http to a loopback address (127.0.0.1, [::1]; no name such as localhost)'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be https'
  const literal = literalOf(url.hostname)
  if (url.protocol === 'https:' && literal !== undefined && !isPublic(literal))
    return 'must go to a public address'
  if (/^(.*\.)?localhost$|\.$/.test(url.hostname))
    return 'must go to a public host name without a dot at its end'
  // A person approves this text, so it must show the host that is called. Escapes, other alphabets and odd notations do not.
  if (url.href !== endpointUrl && url.href !== `${endpointUrl}/`) return `must be written as ${url.href}`
  return undefined
}

/** `http` passes `endpointProblem` only for a loopback literal outside production, which the address rule exempts. */
export function reachOf(endpointUrl: string): Reach {
  return new URL(endpointUrl).protocol === 'http:' ? 'any' : 'public'
}

/**
 * `endpointProblem`, and a check of the addresses that the host name resolves to now. For registration and approval; a call resolves again.
 * @returns undefined, or the end of a sentence that begins with "must"
 */
export async function unreachableEndpoint(
  endpointUrl: string,
  { production, lookup }: { production: boolean; lookup?: Lookup },
): Promise<string | undefined> {
  const problem = endpointProblem(endpointUrl, { production })
  if (problem !== undefined) return problem
  if (reachOf(endpointUrl) === 'any') return undefined
  const resolved = await resolvePublic(new URL(endpointUrl).hostname, lookup)
  if (!('problem' in resolved)) return undefined
  return resolved.code === ADDRESS_REFUSED
    ? 'must resolve to public addresses only'
    : `must go to a host whose name resolves (${resolved.code})`
}

/** Every address of a host, if all are public: one private address among several refuses all. */
export async function resolvePublic(hostname: string, lookup: Lookup = lookupAll): Promise<Resolved> {
  const resolved = await resolveAny(hostname, lookup)
  if ('problem' in resolved || resolved.addresses.every(({ address }) => isPublic(address))) return resolved
  return { problem: 'its address is not public', code: ADDRESS_REFUSED }
}

/** @param hostname as `URL.hostname` writes it: an IPv6 literal in brackets, an IPv4 literal as four decimals */
export async function resolveAny(hostname: string, lookup: Lookup = lookupAll): Promise<Resolved> {
  const literal = literalOf(hostname)
  if (literal !== undefined)
    return { addresses: [{ address: literal, family: ipaddr.parse(literal).kind() === 'ipv4' ? 4 : 6 }] }
  try {
    const addresses = await lookup(hostname)
    if (addresses.length > 0) return { addresses }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== undefined) return { problem: 'its name does not resolve', code }
  }
  return { problem: 'its name does not resolve', code: 'ENOTFOUND' }
}

/** Global unicast, also of an embedded IPv4 address. 6to4 and Teredo are refused as a whole: nothing is served there (RFC 7526). */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address) // unwraps ::ffff:0:0/96
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast' && !CLOUD_INTERNAL.has(parsed.toString())
  const bytes = parsed.toByteArray()
  if (parsed.match(NAT64)) return isPublic(bytes.slice(12).join('.'))
  // ipaddr.js calls every address outside its lists unicast; only 2000::/3 is (RFC 4291 §2.4, IANA).
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_UNICAST)
}

/** RFC 6052 §2.1: the prefix that DNS64 puts before an IPv4 address. */
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

/**
 * Whether a host is a loopback address. A name is not, not even `localhost`: a name server decides what it means.
 * @param hostname as `URL.hostname` writes it
 */
export function isLoopbackLiteral(hostname: string): boolean {
  const literal = literalOf(hostname)
  return literal !== undefined && ipaddr.parse(literal).range() === 'loopback'
}

/** The address of a host that is a literal, without brackets; undefined for a name. */
function literalOf(hostname: string): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  return bare !== hostname || ipaddr.IPv4.isValidFourPartDecimal(bare) ? bare : undefined
}

function lookupAll(hostname: string): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true, order: 'verbatim' }, (error, addresses) => {
      if (error) reject(error)
      else resolve(addresses)
    })
  })
}
