// gateway.yaml: the server behind a gateway, and the port where its releases arrive. Secrets come from the environment: `${TOKEN}` is that variable.
import { dirname, resolve } from 'node:path'
import { Type, type Static } from 'typebox'
import { tokenIssuersOf, type TokenIssuer } from '../core/callers/token-issuers.ts'
import { readYaml } from '../core/cel/yaml.ts'
import { shapeOf } from '../core/json/shape.ts'
import { closed, NonEmptyText } from '../formats/schemas/primitives.ts'
import { problemOfTemplate } from '../receivers/template.ts'

const Variables = Type.Optional(
  Type.Record(Type.String(), NonEmptyText, { description: 'an object of texts' }),
)

const Upstream = Type.Union(
  [
    closed({
      /** The program and its arguments. */
      command: Type.Array(NonEmptyText, { minItems: 1 }),
      /** Variables for the program, beside PATH, HOME and the like: it does not get the gateway's own variables. */
      env: Variables,
    }),
    closed({ url: Type.String({ pattern: '^https?://' }), headers: Variables }),
  ],
  { description: '{command: [program, argument, …], env} or {url: http…, headers}' },
)

const Members = Type.Record(Type.String(), Type.Unknown(), { minProperties: 1 })

const ReadBack = closed({
  /** The name of a tool that only reads. */
  tool: NonEmptyText,
  /** A text in it may name members of the release, such as `{parameters.arguments.id}`. */
  arguments: Type.Record(Type.String(), Type.Unknown(), { description: 'an object' }),
  /** Members of the answer that prove the execution. */
  executed: Members,
  notExecuted: Type.Optional(Members),
})
export type ReadBack = Static<typeof ReadBack>

const Gateway = closed({
  alias: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,59}$',
    description: 'at most 60 small letters, digits and -, beginning with a letter',
  }),
  /** The port on this machine where the service's releases arrive. */
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'a port' }),
  /** Origin of the registered endpoint, if a proxy stands in front. */
  audience: Type.Optional(NonEmptyText),
  upstream: Upstream,
  /** The time limit of one tool call. */
  timeoutSeconds: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 28, description: 'a number of seconds, at most 28' }),
  ),
  /** How long a call that waits for a human is held. */
  holdSeconds: Type.Optional(
    Type.Number({ minimum: 0, maximum: 45, description: 'a number of seconds, at most 45' }),
  ),
  /** How clients reach the gateway where it is started with --port. */
  http: Type.Optional(
    closed({
      /** The address that clients call and that access tokens are issued for. */
      url: Type.Optional(
        Type.String({
          pattern: '^https?://[^?#]+$',
          description: 'a web address without query and fragment',
        }),
      ),
      /** The listening host. */
      host: Type.Optional(NonEmptyText),
      /** The limit for each client. */
      requestsPerMinute: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          description: 'a whole number from 1 to 1,000,000',
        }),
      ),
      tokenIssuers: Type.Optional(
        Type.Array(Type.Unknown(), {
          minItems: 1,
          description: 'a list of at least one issuer, as in SERVICE_TOKEN_ISSUERS',
        }),
      ),
    }),
  ),
  /** Settings that `pin` uses instead of the server's own annotations, and the way to read back a call in doubt. */
  tools: Type.Optional(
    Type.Record(
      Type.String(),
      closed({
        readOnly: Type.Optional(Type.Boolean({ description: 'true or false' })),
        errorsAreFinal: Type.Optional(Type.Boolean({ description: 'true or false' })),
        readBack: Type.Optional(ReadBack),
      }),
      { description: 'an object with a member for each tool: {readOnly, errorsAreFinal, readBack}' },
    ),
  ),
})
export type Gateway = Static<typeof Gateway>
export type UpstreamConfig = Gateway['upstream']

/** A gateway's file with its folder, which also holds journal, calls and pin, because a client may start the gateway in any folder. */
export interface GatewayFile extends Omit<Gateway, 'http'> {
  readonly folder: string
  readonly http?: GatewayHttp | undefined
}

export interface GatewayHttp {
  readonly url?: string | undefined
  /** Default: 127.0.0.1. */
  readonly host?: string | undefined
  /** Requests per minute for each client. Default: `REQUESTS_PER_MINUTE`. */
  readonly requestsPerMinute?: number | undefined
  /** Issuers whose access tokens are accepted; undefined: none. */
  readonly tokenIssuers?: readonly TokenIssuer[] | undefined
}

const shape = shapeOf(Gateway)

/**
 * @param env holds the secrets
 * @throws Error with a sentence that names the file and the member
 */
export function readGateway(file: string, env: NodeJS.ProcessEnv): GatewayFile {
  const shaped = shape(readYaml(file).value)
  if ('problem' in shaped) throw new Error(`${file}: ${shaped.problem}`)
  const { upstream } = shaped.value
  const filled = (member: string, texts: Readonly<Record<string, string>> | undefined) =>
    texts &&
    Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [
        name,
        filledText(`${file}: ${member}.${name}`, text, env),
      ]),
    )
  const withSecrets: UpstreamConfig =
    'url' in upstream
      ? { url: upstream.url, ...present('headers', filled('upstream.headers', upstream.headers)) }
      : { command: upstream.command, ...present('env', filled('upstream.env', upstream.env)) }
  const { http, tools = {} } = shaped.value
  for (const [name, { readBack }] of Object.entries(tools))
    for (const text of textsIn(readBack?.arguments)) {
      const problem = problemOfTemplate(text, true)
      if (problem !== undefined) throw new Error(`${file}: tools.${name}.readBack.arguments ${problem}.`)
    }
  const tokenIssuers = http?.tokenIssuers && tokenIssuersOf(http.tokenIssuers, `${file}: http.tokenIssuers`)
  const bound = tokenIssuers?.findIndex(({ dpop }) => dpop !== undefined) ?? -1
  // Used proofs are remembered in the service's database. A gateway has no database, so it refuses every token that is bound to a key.
  if (bound !== -1)
    throw new Error(
      `${file}: http.tokenIssuers[${bound}].dpop must be left out: a gateway takes no tokens that are bound to a key.`,
    )
  return {
    ...shaped.value,
    upstream: withSecrets,
    http: http && { ...http, tokenIssuers },
    folder: dirname(resolve(file)),
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const present = <Name extends string, T>(name: Name, value: T | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [N in Name]?: T }

function filledText(place: string, text: string, env: NodeJS.ProcessEnv): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
    const secret = env[variable]
    if (!secret) throw new Error(`${place} needs the variable ${variable}, which is not set.`)
    return secret
  })
}
