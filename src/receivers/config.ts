// The files that configure a ready receiver. Secrets come from the environment: `${ERP_TOKEN}` in a header is that variable.
import { Type, type Static, type TSchema } from 'typebox'
import { readYaml } from '../core/cel/yaml.ts'
import { shapeOf } from '../core/json/shape.ts'
import type { Json } from '../formats/json/canonical.ts'
import { closed, NonEmptyText } from '../formats/schemas/primitives.ts'
import { problemOfTemplate } from './template.ts'

const Capability = Type.String({
  pattern: '^[a-z][a-z0-9-]{0,63}:[a-z][a-z0-9-]{0,63}$',
  description: 'a capability, such as erp:refund',
})

/** Members that every receiver has. */
const common = {
  /** Origin of the service. */
  service: NonEmptyText,
  port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'a port' }),
  /** The journal's file. Its folder must exist. */
  journal: NonEmptyText,
  /** Origin of the registered endpoint, if a proxy stands in front. */
  audience: Type.Optional(NonEmptyText),
}

const Statuses = Type.Array(Type.Integer({ minimum: 200, maximum: 599, description: 'an HTTP status' }), {
  minItems: 1,
  description: 'a list of HTTP statuses',
})
const Headers = Type.Optional(Type.Record(Type.String(), NonEmptyText, { description: 'an object of texts' }))
/** Members of the answer that become evidence. Default: all of them. */
const Keep = Type.Optional(Type.Array(NonEmptyText, { description: 'a list of names' }))
const TimeoutSeconds = Type.Optional(
  Type.Number({ exclusiveMinimum: 0, maximum: 110, description: 'a number of seconds, at most 110' }),
)

const HttpReceiver = closed({
  ...common,
  capability: Capability,
  request: closed({
    method: Type.Enum(['POST', 'PUT', 'PATCH', 'DELETE'], { description: 'POST, PUT, PATCH or DELETE' }),
    url: NonEmptyText,
    headers: Headers,
    body: Type.Optional(Type.Unknown()),
    timeoutSeconds: TimeoutSeconds,
    /** Statuses that mean that the effect happened. */
    executed: Statuses,
    /** Statuses that mean that it certainly did not happen. Any other status leaves the outcome open. */
    notExecuted: Type.Optional(Statuses),
    keep: Keep,
  }),
  readBack: Type.Optional(
    closed({
      url: NonEmptyText,
      headers: Headers,
      executed: Statuses,
      notExecuted: Type.Optional(Statuses),
      keep: Keep,
    }),
  ),
})
export type HttpReceiver = Static<typeof HttpReceiver>

const StripeReceiver = closed({
  ...common,
  capabilities: Type.Array(
    Type.Enum(['stripe:payment-intent', 'stripe:refund', 'stripe:payout'], {
      description: 'stripe:payment-intent, stripe:refund or stripe:payout',
    }),
    { minItems: 1, description: 'a list of capabilities' },
  ),
  /** An address instead of Stripe's own, for a trial: `http://127.0.0.1:12111`. */
  api: Type.Optional(NonEmptyText),
})
export type StripeReceiver = Static<typeof StripeReceiver>

/** @throws Error with a sentence that names the file and the member */
function readConfig<Schema extends TSchema>(file: string, schema: Schema): Static<Schema> {
  const shaped = shapeOf(schema)(readYaml(file).value)
  if ('problem' in shaped) throw new Error(`${file}: ${shaped.problem}`)
  return shaped.value
}

export const readStripeReceiver = (file: string): StripeReceiver => readConfig(file, StripeReceiver)

/**
 * @param env holds the secrets
 * @throws Error with a sentence that names the file and the member
 */
export function readHttpReceiver(file: string, env: NodeJS.ProcessEnv): HttpReceiver {
  const config = readConfig(file, HttpReceiver)
  const wrong = (member: string, problem: string) => new Error(`${file}: ${member} ${problem}.`)
  const checked = (member: string, text: string, isWhole = false) => {
    const problem = problemOfTemplate(text, isWhole)
    if (problem !== undefined) throw wrong(member, problem)
  }
  const withSecrets = (member: string, headers: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, text]) => {
        const filled = text.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
          const secret = env[variable]
          if (!secret) throw wrong(`${member}.${name}`, `needs the variable ${variable}, which is not set`)
          return secret
        })
        // The content of a secret is no template.
        checked(`${member}.${name}`, text.replaceAll(/\$\{\w+\}/g, ''))
        return [name, filled]
      }),
    )
  const checkedUrl = (member: string, url: string) => {
    if (!/^https?:\/\/[^/{}?#@]+(?:[/?]|$)/.test(url))
      throw wrong(member, 'must begin with http:// or https:// and a host that holds no member of a release')
    checked(member, url)
  }
  checkedUrl('request.url', config.request.url)
  if (config.readBack) checkedUrl('readBack.url', config.readBack.url)
  eachText(config.request.body as Json, (text) => checked('request.body', text, true))
  return {
    ...config,
    request: { ...config.request, headers: withSecrets('request.headers', config.request.headers) },
    ...(config.readBack && {
      readBack: { ...config.readBack, headers: withSecrets('readBack.headers', config.readBack.headers) },
    }),
  }
}

function eachText(value: Json | undefined, see: (text: string) => void): void {
  if (typeof value === 'string') see(value)
  else if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) eachText(member as Json, see)
}
