// Providers whose deliveries are taken (decisions §1, §10): `<PROVIDER>_WEBHOOK_SECRET` mounts `/webhooks/<provider>`, and the names of
// the two headers follow from the provider's (interface §6).

/** The key is the provider in lower case. Any of several secrets is accepted, so that a rotation loses no delivery. */
export type WebhookSecrets = Readonly<Record<string, readonly string[]>>

const SUFFIX = '_WEBHOOK_SECRET'
const PROVIDER = /^[A-Z][A-Z0-9_]{0,31}$/
/** Printable, no spaces; long enough that nobody finds it by trying. */
const SECRET = /^[!-~]{16,512}$/
/** Each of them is tried on every delivery. */
const SECRETS_MAX = 4

/**
 * The webhook providers that an environment configures.
 * @returns `problems`, sentences that begin with the variable's name and repeat no value
 */
export function readWebhookSecrets(given: Readonly<Record<string, string>>): {
  readonly secrets: WebhookSecrets
  readonly problems: readonly string[]
} {
  const secrets: Record<string, readonly string[]> = {}
  const problems: string[] = []
  for (const [name, value] of Object.entries(given)) {
    // Those that begin with SERVICE_ are ours alone, and reported where all of them are.
    if (!name.endsWith(SUFFIX) || name.startsWith('SERVICE_')) continue
    const provider = name.slice(0, -SUFFIX.length)
    const configured = value.split(',')
    if (!PROVIDER.test(provider))
      problems.push(
        `${name} must name its provider by a capital letter and at most 31 further ones, digits or _.`,
      )
    else if (configured.length > SECRETS_MAX || !configured.every((secret) => SECRET.test(secret)))
      problems.push(
        `${name} must be 1 to ${SECRETS_MAX} secrets with a comma between them, each 16 to 512 printable ASCII characters without spaces.`,
      )
    else secrets[provider.toLowerCase()] = configured
  }
  return { secrets, problems }
}

/** Lower case. A provider's `_` is a `-` here: proxies drop header names that hold an underscore. */
export function webhookHeaders(provider: string): { readonly signature: string; readonly eventId: string } {
  const prefix = `x-${provider.replaceAll('_', '-')}`
  return { signature: `${prefix}-signature`, eventId: `${prefix}-event-id` }
}
