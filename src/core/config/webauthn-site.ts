// Where a passkey can sign at all: what no browser would ever do is refused when the passkey is enrolled, because its key would be dead, or the
// list of its origins would mislead its checker. Keys that are enrolled already are not looked at again.
import { isIP } from 'node:net'
import { parse } from 'tldts'

/**
 * @param site as it was posted, each member of its pattern
 * @param path of the passkey in the body, for the message
 * @returns a sentence that names the member and what it must be; undefined where browsers can use all of it
 */
export function siteProblem(
  { rpId, origins }: { readonly rpId: string; readonly origins: readonly string[] },
  path: string,
): string | undefined {
  const wrong = rpIdProblem(rpId)
  if (wrong !== undefined) return `${path}.rpId ${wrong}.`
  for (const [i, origin] of origins.entries()) {
    const problem = originProblem(origin, rpId)
    if (problem !== undefined) return `${path}.origins.${i} ${problem}.`
  }
  return undefined
}

function rpIdProblem(rpId: string): string | undefined {
  if (isIP(rpId) !== 0 || rpId.includes('..') || URL.parse(`https://${rpId}`)?.hostname !== rpId)
    return 'must be a host name, not an address'
  return isPublicSuffix(rpId)
    ? 'must not be a public suffix, such as com, co.uk or github.io: passkeys belong to one site'
    : undefined
}

/** Looks into the list that browsers go by (publicsuffix.org), with the suffixes that companies have put there. */
function isPublicSuffix(host: string): boolean {
  const { publicSuffix, isIcann, isPrivate } = parse(host, { allowPrivateDomains: true })
  return publicSuffix === host && (isIcann === true || isPrivate === true)
}

function originProblem(origin: string, rpId: string): string | undefined {
  const url = URL.parse(origin)
  if (url === null) return 'must be an origin, such as https://approve.example'
  const { protocol, hostname } = url
  if (url.origin !== origin) return `must be written as browsers write it: ${url.origin}`
  if (protocol !== 'https:' && !isLocalhost(hostname)) return 'must be https: http is for localhost alone'
  // Below a name without a dot, such as localhost, browsers take it for a suffix: only the host itself is of its site.
  const isBelow = rpId.includes('.') && hostname.endsWith(`.${rpId}`)
  return hostname === rpId || isBelow ? undefined : `must be at rpId ${rpId} or a subdomain of it`
}

const isLocalhost = (host: string) => host === 'localhost' || host.endsWith('.localhost')

/**
 * Whether an origin of a passkey is that of the console. Port 0 stands for the port that the service was given at its start, which a thread does not
 * know: there every port of the host is the console's.
 * @param consoleOrigin CONSOLE_ORIGIN; left out: the console, if there is one, is at localhost
 */
export function isConsoleAt(origin: string, consoleOrigin = 'http://localhost:0'): boolean {
  const [here, own] = [new URL(origin), new URL(consoleOrigin)]
  return own.port === '0'
    ? here.protocol === own.protocol && here.hostname === own.hostname
    : here.origin === own.origin
}
