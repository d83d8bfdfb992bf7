// Where humans open what waits for them.

const TIMEOUT_MS = 5_000

/**
 * @param url of a service
 * @returns where its console is: an embedded service sends whoever asks for it to `localhost`, since passkeys work under a name alone
 */
export async function consoleOf(url: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const { headers } = await fetch(new URL('/console', url), { redirect: 'manual', signal })
    return new URL(headers.get('location') ?? url, url).origin
  } catch {
    // It answers calls with a sentence of its own where it is away.
    return url
  }
}
