// Fills members of a release into a request: `{parameters.orderId}` in a text is that member. Nothing else of a release leaves the receiver.
import { Refused, type Release } from '../../clients/typescript/src/receiver/index.ts'
import type { Json } from '../formats/json/canonical.ts'
import { memberAt } from '../formats/json/fields.ts'

const PLACEHOLDER = /\{([^{}]*)\}/g
const NAME =
  /^(?:authorizationId|businessTransactionId|capability|target|issuedAt|policy\.(?:name|version)|parameters(?:\.[^.{}?]+)+)(\?)?$/

/**
 * The reason why a text is no template, as a sentence without its subject; undefined for a template.
 * @param isWhole whether the text stands for a member of a body, which may be left out
 */
export function problemOfTemplate(text: string, isWhole: boolean): string | undefined {
  for (const [all, name = ''] of text.matchAll(PLACEHOLDER)) {
    const [known, optional] = NAME.exec(name) ?? []
    if (known === undefined) return `names {${name}}, which a release does not have`
    if (optional !== undefined && !(isWhole && all === text))
      return `has {${name}} in a text: only a member of the body can be left out`
  }
  return undefined
}

/** @throws Refused where the release lacks a member, so that nothing is done */
function memberOf(release: Release, name: string): Json | undefined {
  const isOptional = name.endsWith('?')
  const value = memberAt(release, (isOptional ? name.slice(0, -1) : name).split('.')) as Json | undefined
  if (value === undefined && !isOptional) throw new Refused(`${name} is missing.`)
  return value
}

/** Fills the release's members into a text. Numbers and booleans are written as JSON. */
export function filledText(template: string, release: Release, encoded = (text: string) => text): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => {
    const value = memberOf(release, name)
    if (typeof value === 'object') throw new Refused(`${name} must be a text, a number or a boolean.`)
    return encoded(String(value))
  })
}

/** @param template its scheme and host hold no members: a release must not choose its destination */
export function filledUrl(template: string, release: Release): URL {
  return new URL(
    filledText(template, release, (text) => {
      // In a URL these would be steps to other folders, encoded or not.
      if (['', '.', '..'].includes(text)) throw new Refused(`"${text}" cannot stand in an address.`)
      return encodeURIComponent(text)
    }),
  )
}

/** Fills a body. A text that is only one placeholder becomes that member, with its type; with `?` it is left out where the release lacks it. */
export function filledBody(template: Json, release: Release): Json | undefined {
  if (typeof template === 'string') {
    const [, name] = /^\{([^{}]*)\}$/.exec(template) ?? []
    return name === undefined ? filledText(template, release) : memberOf(release, name)
  }
  if (Array.isArray(template))
    return (template as Json[]).flatMap((one) => {
      const filled = filledBody(one, release)
      return filled === undefined ? [] : [filled]
    })
  if (typeof template !== 'object' || template === null) return template
  const members = Object.entries(template).flatMap(([name, value]) => {
    const filled = filledBody(value as Json, release)
    return filled === undefined ? [] : [[name, filled] as const]
  })
  return Object.fromEntries(members)
}
