// Providers whose deliveries are accepted (decisions §1, §10, §12): `<PROVIDER>_WEBHOOK_SECRET` mounts `/webhooks/<provider>`, and
// `<PROVIDER>_WEBHOOK_SCHEME` names the provider's signature scheme.
import { schemeNames, schemes, type Scheme, type SchemeName } from './schemes/index.ts'

interface WebhookProvider {
  readonly scheme: SchemeName
  /** Each of several secrets is accepted, so that a rotation loses no delivery. */
  readonly secrets: readonly string[]
}

/** The key is the provider in lower case. */
export type WebhookProviders = Readonly<Record<string, WebhookProvider>>

const SECRET_SUFFIX = '_WEBHOOK_SECRET'
const SCHEME_SUFFIX = '_WEBHOOK_SCHEME'
/** The suffixes of a provider's variables. */
export const PROVIDER_SUFFIXES = [SECRET_SUFFIX, SCHEME_SUFFIX]
const PROVIDER = /^[A-Z][A-Z0-9_]{0,31}$/
/** Printable, without a space at an end, which was probably pasted by mistake. */
const SECRET = /^(?! )[ -~]{1,512}(?<! )$/
/** Each secret is tried on every delivery. */
const SECRETS_MAX = 4

/**
 * The webhook providers that an environment configures.
 * @returns `problems`, sentences that begin with the variable's name and repeat no value
 */
export function readWebhookProviders(given: Readonly<Record<string, string>>): {
  readonly providers: WebhookProviders
  readonly problems: readonly string[]
} {
  const providers: Record<string, WebhookProvider> = {}
  const problems: string[] = []
  for (const [name, value] of Object.entries(given)) {
    // Names that begin with SERVICE_ are reserved for the service and are reported with all of them.
    if (name.startsWith('SERVICE_')) continue
    if (name.endsWith(SCHEME_SUFFIX)) problems.push(...schemeProblems(name, given))
    if (!name.endsWith(SECRET_SUFFIX)) continue
    const provider = name.slice(0, -SECRET_SUFFIX.length)
    const scheme = given[`${provider}${SCHEME_SUFFIX}`] ?? 'contract'
    const secrets = value.split(',')
    if (!PROVIDER.test(provider))
      problems.push(
        `${name} must name its provider by a capital letter and at most 31 further ones, digits or _.`,
      )
    else if (secrets.length > SECRETS_MAX || !secrets.every((secret) => SECRET.test(secret)))
      problems.push(
        `${name} must be 1 to ${SECRETS_MAX} secrets with a comma between them, each 1 to 512 printable ASCII characters without a space at either end.`,
      )
    else if (isScheme(scheme)) {
      const mustBe = secrets.flatMap((secret) => schemes[scheme].secretMustBe(secret) ?? [])
      if (mustBe[0] === undefined) providers[provider.toLowerCase()] = { scheme, secrets }
      else problems.push(`${name} must be ${mustBe[0]}, as the scheme ${scheme} has it.`)
    }
  }
  return { providers, problems }
}

function schemeProblems(name: string, given: Readonly<Record<string, string>>): string[] {
  const secret = `${name.slice(0, -SCHEME_SUFFIX.length)}${SECRET_SUFFIX}`
  const problems: string[] = []
  if (!isScheme(given[name] ?? '')) problems.push(`${name} must be one of ${schemeNames.join(', ')}.`)
  if (given[secret] === undefined) problems.push(`${name} needs ${secret}, which mounts the provider.`)
  return problems
}

function isScheme(name: string): name is SchemeName {
  return Object.hasOwn(schemes, name)
}

/** @returns sentences about secrets that are used but should be replaced; none repeats a secret */
export function secretWarnings(providers: WebhookProviders): string[] {
  return Object.entries(providers).flatMap(([provider, { scheme, secrets }]) =>
    secrets.flatMap((secret, i) => {
      const why = schemes[scheme].secretWarning(secret)
      const which = secrets.length === 1 ? '' : ` Number ${i + 1} of its secrets`
      const name = `${provider.toUpperCase()}${SECRET_SUFFIX}`
      return why === undefined ? [] : [`${name}${which === '' ? '' : `:${which}`} ${why}.`]
    }),
  )
}

/**
 * The reason why a delivery has no signature header of its provider's scheme, for the log.
 * @param has whether the delivery has a header, by its lower-case name
 */
export function missingHeaderText(
  provider: string,
  scheme: SchemeName,
  has: (header: string) => boolean,
): string {
  const expected = `scheme ${scheme} expects the header ${schemes[scheme].signatureHeaders(provider)[0]}`
  for (const other of schemeNames) {
    const found = schemes[other].signatureHeaders(provider).find(has)
    if (other !== scheme && found !== undefined)
      return `${expected}; the delivery has ${found}, which is that of scheme ${other}`
  }
  return expected
}

export function schemeOf(provider: WebhookProvider): Scheme {
  return schemes[provider.scheme]
}
