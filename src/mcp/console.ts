// Finds the console where humans open the requests that wait for them.

const TIMEOUT_MS = 5_000

/**
 * @param url of a service
 * @returns the origin of its console: an embedded service redirects to `localhost`, because passkeys work only under a host name
 */
export async function consoleOf(url: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const { headers } = await fetch(new URL('/console', url), { redirect: 'manual', signal })
    return new URL(headers.get('location') ?? url, url).origin
  } catch {
    // If the service is away, each call reports that itself.
    return url
  }
}
