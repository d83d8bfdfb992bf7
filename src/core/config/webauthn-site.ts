// Checks the site of a passkey at its enrollment: a site that no browser accepts would make the key useless, or its list of origins would
// mislead its checker. Keys that are already enrolled are not checked again.
import { isIP } from 'node:net'
import { parse } from 'tldts'

/**
 * @param site as it was posted, each member already of its pattern
 * @param path of the passkey in the body, for the message
 * @returns a sentence that names the member and its requirement; undefined when browsers can use the whole site
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

/** Looks into the list that browsers use (publicsuffix.org), including the suffixes that companies have added. */
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
  // Browsers treat a name without a dot, such as localhost, as a suffix: only the host itself belongs to its site.
  const isBelow = rpId.includes('.') && hostname.endsWith(`.${rpId}`)
  return hostname === rpId || isBelow ? undefined : `must be at rpId ${rpId} or a subdomain of it`
}

const isLocalhost = (host: string) => host === 'localhost' || host.endsWith('.localhost')

/**
 * Whether an origin of a passkey is that of the console. Port 0 stands for the port that the service was given at its start, which a thread does
 * not know: then every port of the host counts as the console's.
 * @param consoleOrigin CONSOLE_ORIGIN; left out: the console, if there is one, is at localhost
 */
export function isConsoleAt(origin: string, consoleOrigin = 'http://localhost:0'): boolean {
  const [here, own] = [new URL(origin), new URL(consoleOrigin)]
  return own.port === '0'
    ? here.protocol === own.protocol && here.hostname === own.hostname
    : here.origin === own.origin
}
