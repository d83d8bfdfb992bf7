// Configuration: the environment read once at start into one frozen object (decisions §1).
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { Client } from 'pg'
import { Type, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Check } from 'typebox/value'
import packageJson from '../../../package.json' with { type: 'json' }
import { parseCallers } from '../callers/callers.ts'
import { issuerOfName, parseTokenIssuers, type TokenIssuer } from '../callers/token-issuers.ts'
import type { Caller } from '../../formats/people/caller.ts'
import { oneOf, rate, text, wholeNumber } from './config-schema.ts'
import { ConfigError, describe } from '../errors/config-error.ts'
import { dataDir, signingKeyDir } from './folders.ts'
import { nearest } from '../../formats/text/nearest.ts'
import { isLoopbackLiteral } from '../outbound/address.ts'
import { algorithms, type Algorithm } from '../../formats/schemas/signature.ts'
import { PROVIDER_SUFFIXES, readWebhookProviders, type WebhookProviders } from '../webhooks/providers.ts'

export interface Config {
  readonly host: string
  readonly port: number
  /** Undefined: the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined
  /** A read replica of it, only for the bulk export. Undefined: the export reads from the main database. */
  readonly databaseReadUrl: string | undefined
  /** This and the two other folders are absolute paths. */
  readonly dataDir: string
  readonly signingKeyDir: string
  /** A folder that the operator named is used as it is; only the default folder is ever filled (decisions §1 "Embedded start"). */
  readonly signingKeyDirGiven: boolean
  readonly receiptAlgorithms: readonly Algorithm[]
  /** Authorizations and records of a batch share a signature. */
  readonly batchSignatures: boolean
  /** APPROVER_PASSKEYS: whether a passkey that can be copied may be enrolled for an approver. */
  readonly approverPasskeys: 'any' | 'device-bound'
  /** Undefined with LOG=off: nothing is logged. */
  readonly evidenceLog:
    | {
        /** Prefix of `/log/` in the log's origin; undefined: it follows from the log's key. */
        readonly origin: string | undefined
        /** Readers of tiles and entries: everybody, or humans and auditors. */
        readonly access: 'readAll' | 'open'
        /** Undefined: no witness is asked to cosign the log's checkpoints. */
        readonly witnesses:
          | {
              /** Path of a C2SP tlog-policy. */
              readonly policyFile: string
              /** Whether a checkpoint is served only after enough witnesses have cosigned it. */
              readonly required: boolean
            }
          | undefined
      }
    | undefined
  /** Undefined with CATALOGUE=off, and with LOG=off, whose entries it follows: executions cannot be searched for. */
  readonly catalogue: { /** How long an entry is kept. */ readonly days: number } | undefined
  /** Undefined: this service is no witness of other logs. */
  readonly witness:
    | {
        /** The key name of its cosignatures: `<LOG_ORIGIN>/witness`. */
        readonly name: string
        /** Path of a C2SP tlog-policy with the logs. */
        readonly logsFile: string
      }
    | undefined
  readonly policyDir: string
  readonly webhookDir: string
  /** A folder that the operator named must exist, and its rules are meant to be used. */
  readonly webhookDirGiven: boolean
  /** Undefined: not configured; the embedded start creates a caller. */
  readonly callers: readonly Caller[] | undefined
  /** Issuers whose access tokens are accepted besides keys. */
  readonly tokenIssuers: readonly TokenIssuer[]
  /** Number of humans who must state how an execution in doubt ended before it is closed. */
  readonly intentCloseQuorum: number
  readonly authDisabled: boolean
  /** Whether NODE_ENV is `production`: development aids are refused. */
  readonly production: boolean
  /** Undefined: no token, and no connector for the CRM. */
  readonly hubspot: { readonly token: string; readonly baseUrl: string } | undefined
  /** The providers whose deliveries are accepted. */
  readonly webhookProviders: WebhookProviders
  readonly rateLimits: {
    readonly executePerMinute: number
    readonly healthPerMinute: number
    readonly publicPerMinute: number
    /** Milliseconds of worker thread time, see src/server/http/gates/compute.ts. */
    readonly computeMsPerMinute: number
    /** Maximum number of requests that each caller may open. */
    readonly approvalRequestsPerHour: number
  }
  readonly maxBodyBytes: number
  readonly workerThreads: number
  readonly buildVersion: string
  readonly trustProxyHops: number
  readonly shutdownTimeoutMs: number
  readonly logLevel: string
  /** Requests in flight or waiting; the next one is answered 503 OVERLOADED. */
  readonly queueRequestsMax: number
  /** Host and port of GET /metrics; undefined: it is not served, and nothing is counted. */
  readonly metrics: { readonly host: string; readonly port: number } | undefined
  readonly listener: 'auto' | 'uWebSockets.js' | 'node:http'
  /** Scheme, host and port of the console; undefined: the embedded service's default; with an operator's own database, no console. */
  readonly consoleOrigin: string | undefined
  /** Path of the file that says how approvers are notified of approval requests; undefined: they are not notified. */
  readonly notificationsFile: string | undefined
}

/** Every variable that is read. A mistake is reported as its name, "must be" and its description. */
export const Environment = Type.Partial(
  Type.Object({
    HOST: text('^\\S+$', 'a host name or address'),
    PORT: wholeNumber(0, 65_535),
    DATABASE_URL: text('^postgres(ql)?://\\S*$', 'a postgres:// URL'),
    DATABASE_READ_URL: text('^postgres(ql)?://\\S*$', 'a postgres:// URL'),
    DATA_DIR: Type.String(),
    SIGNING_KEY_DIR: Type.String(),
    RECEIPT_ALGORITHMS: oneOf('ed25519', 'ml-dsa-65', 'ed25519,ml-dsa-65'),
    BATCH_SIGNATURES: oneOf('true', 'false'),
    APPROVER_PASSKEYS: oneOf('any', 'device-bound'),
    LOG: oneOf('on', 'off'),
    LOG_ORIGIN: text(
      '^(?!.*//)[A-Za-z0-9]([A-Za-z0-9._~:/-]{0,198}[A-Za-z0-9])?$',
      'a name such as countersign.example.com, without a scheme: 1 to 200 letters, digits and . _ ~ : / -',
    ),
    LOG_ACCESS: oneOf('readAll', 'open'),
    CATALOGUE: oneOf('on', 'off'),
    CATALOGUE_DAYS: wholeNumber(1, 36_500),
    LOG_WITNESS_POLICY: Type.String(),
    LOG_WITNESS_MODE: oneOf('added', 'required'),
    WITNESS_LOGS: Type.String(),
    POLICY_DIR: Type.String(),
    WEBHOOK_DIR: Type.String(),
    INTENT_CLOSE_QUORUM: wholeNumber(1, 2),
    SERVICE_API_KEYS: Type.String(),
    SERVICE_TOKEN_ISSUERS: Type.String(),
    SERVICE_AUTH_DISABLED: oneOf('true', 'false'),
    RATE_LIMIT_EXECUTE_PER_MINUTE: rate(),
    RATE_LIMIT_HEALTH_PER_MINUTE: rate(),
    RATE_LIMIT_PUBLIC_PER_MINUTE: rate(),
    RATE_LIMIT_COMPUTE_MS_PER_MINUTE: rate(),
    APPROVAL_REQUESTS_PER_HOUR: rate(),
    HUBSPOT_PRIVATE_APP_TOKEN: text('^[!-~]{1,512}$', '1 to 512 printable ASCII characters without spaces'),
    HUBSPOT_BASE_URL: Type.String({
      description: 'an https origin without a path, or http to a loopback address outside production',
    }),
    MAX_BODY_BYTES: wholeNumber(1, 67_108_864),
    WORKER_THREADS: wholeNumber(1, 256),
    BUILD_VERSION: text('^[\\x20-\\x7e]{1,128}$', '1 to 128 printable ASCII characters'),
    TRUST_PROXY_HOPS: wholeNumber(0, 32),
    SHUTDOWN_TIMEOUT_MS: wholeNumber(0, 3_600_000),
    LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    QUEUE_REQUESTS_MAX: wholeNumber(1, 1_000_000),
    METRICS_HOST: text('^\\S+$', 'a host name or address'),
    METRICS_PORT: wholeNumber(0, 65_535),
    LISTENER: oneOf('auto', 'uWebSockets.js', 'node:http'),
    NOTIFICATIONS: Type.String(),
    CONSOLE_ORIGIN: Type.String({
      description: 'an origin such as https://console.example.com; http for localhost alone',
    }),
    NODE_ENV: Type.String(),
  }),
)
const environment = Compile(Environment)

/**
 * The configuration of a process. An empty variable counts as unset, which is how Compose files write "not given".
 *
 * @param env `process.env` or the like; nothing else reads the environment
 * @throws ConfigError with every mistake, by variable name; values are not repeated, some of them are secrets
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value) given[name] = value
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, typed(name, value)]))
  const mistyped = new Set(environment.Errors(values).map(({ instancePath }) => instancePath.slice(1)))

  const webhooks = readWebhookProviders(given)
  const problems = [
    ...unknownServiceVariables(env),
    ...Array.from(mistyped, (name) => `${name} must be ${describe(Environment, name)}.`),
    ...contradictions(given),
    ...webhooks.problems,
  ]
  const callers = parsed(parseCallers, given['SERVICE_API_KEYS'], problems)
  const tokenIssuers = parsed(parseTokenIssuers, given['SERVICE_TOKEN_ISSUERS'], problems) ?? []
  for (const [index, { callerId }] of callers?.entries() ?? []) {
    const issuer = issuerOfName(callerId, tokenIssuers)
    if (issuer !== undefined)
      problems.push(`SERVICE_API_KEYS[${index}].callerId is a name of the callers by token of ${issuer}.`)
  }
  if (problems.length > 0 || !environment.Check(values)) throw new ConfigError(problems)

  const receiptAlgorithms = (values.RECEIPT_ALGORITHMS ?? 'ed25519').split(',')
  return deepFreeze<Config>({
    host: values.HOST ?? '127.0.0.1',
    port: values.PORT ?? 3000,
    databaseUrl: values.DATABASE_URL,
    databaseReadUrl: values.DATABASE_READ_URL,
    dataDir: dataDir(given),
    signingKeyDir: signingKeyDir(given),
    signingKeyDirGiven: values.SIGNING_KEY_DIR !== undefined,
    receiptAlgorithms: algorithms.filter((name) => receiptAlgorithms.includes(name)),
    batchSignatures: values.BATCH_SIGNATURES !== 'false',
    approverPasskeys: values.APPROVER_PASSKEYS ?? 'any',
    evidenceLog:
      values.LOG === 'off'
        ? undefined
        : {
            origin: values.LOG_ORIGIN,
            access: values.LOG_ACCESS === 'open' ? 'open' : 'readAll',
            witnesses:
              values.LOG_WITNESS_POLICY === undefined
                ? undefined
                : {
                    policyFile: resolve(values.LOG_WITNESS_POLICY),
                    required: values.LOG_WITNESS_MODE === 'required',
                  },
          },
    catalogue:
      values.LOG === 'off' || values.CATALOGUE === 'off' ? undefined : { days: catalogueDays(given) },
    witness:
      values.WITNESS_LOGS === undefined
        ? undefined
        : { name: `${values.LOG_ORIGIN}/witness`, logsFile: resolve(values.WITNESS_LOGS) },
    policyDir: resolve(values.POLICY_DIR ?? 'policies'),
    webhookDir: resolve(values.WEBHOOK_DIR ?? 'webhooks'),
    webhookDirGiven: values.WEBHOOK_DIR !== undefined,
    callers,
    tokenIssuers,
    intentCloseQuorum: values.INTENT_CLOSE_QUORUM ?? 1,
    authDisabled: values.SERVICE_AUTH_DISABLED === 'true',
    production: isProduction(given),
    hubspot:
      values.HUBSPOT_PRIVATE_APP_TOKEN === undefined
        ? undefined
        : {
            token: values.HUBSPOT_PRIVATE_APP_TOKEN,
            baseUrl: new URL(values.HUBSPOT_BASE_URL ?? 'https://api.hubapi.com').origin,
          },
    webhookProviders: webhooks.providers,
    rateLimits: {
      executePerMinute: values.RATE_LIMIT_EXECUTE_PER_MINUTE ?? 600,
      healthPerMinute: values.RATE_LIMIT_HEALTH_PER_MINUTE ?? 1200,
      publicPerMinute: values.RATE_LIMIT_PUBLIC_PER_MINUTE ?? 1200,
      computeMsPerMinute: values.RATE_LIMIT_COMPUTE_MS_PER_MINUTE ?? 6_000,
      approvalRequestsPerHour: values.APPROVAL_REQUESTS_PER_HOUR ?? 60,
    },
    maxBodyBytes: values.MAX_BODY_BYTES ?? 102_400,
    workerThreads: values.WORKER_THREADS ?? Math.max(1, availableParallelism() - 1),
    buildVersion: values.BUILD_VERSION ?? packageJson.version,
    trustProxyHops: values.TRUST_PROXY_HOPS ?? 0,
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS ?? 10_000,
    logLevel: values.LOG_LEVEL ?? 'info',
    queueRequestsMax: values.QUEUE_REQUESTS_MAX ?? 4096,
    metrics:
      values.METRICS_PORT === undefined
        ? undefined
        : { host: values.METRICS_HOST ?? '127.0.0.1', port: values.METRICS_PORT },
    listener: values.LISTENER ?? 'auto',
    consoleOrigin: values.CONSOLE_ORIGIN,
    notificationsFile: values.NOTIFICATIONS === undefined ? undefined : resolve(values.NOTIFICATIONS),
  })
}

/** @returns undefined when the variable is not set, or is wrong: then its problems are added */
function parsed<Result>(
  parse: (json: string) => Result,
  json: string | undefined,
  problems: string[],
): Result | undefined {
  try {
    return json === undefined ? undefined : parse(json)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
    return undefined
  }
}

const CATALOGUE_DAYS = 'CATALOGUE_DAYS'

/**
 * How long an entry of the catalogue is kept, also for commands that work beside services.
 * @throws ConfigError when CATALOGUE_DAYS is not a valid number of days
 */
export function catalogueDays(env: Readonly<Record<string, string | undefined>>): number {
  const days = typed(CATALOGUE_DAYS, env[CATALOGUE_DAYS] || '400')
  if (Check(Environment.properties[CATALOGUE_DAYS], days)) return days
  throw new ConfigError([`${CATALOGUE_DAYS} must be ${describe(Environment, CATALOGUE_DAYS)}.`])
}

/** Strict: Number() would also take ' 5', '5.0', '0x10' and '1e3'. Any other text stays text and fails the schema. */
function typed(name: string, value: string): string | number {
  const schemas: Readonly<Record<string, TSchema>> = Environment.properties
  return Type.IsInteger(schemas[name]) && /^(0|[1-9][0-9]*)$/.test(value) ? Number(value) : value
}

/** A misspelled SERVICE_AUTH_DISABLED or SERVICE_API_KEYS must stop the start, not weaken it. */
function unknownServiceVariables(env: Readonly<Record<string, unknown>>): string[] {
  const known = Object.keys(Environment.properties).filter((name) => name.startsWith('SERVICE_'))
  return Object.keys(env)
    .filter((name) => name.startsWith('SERVICE_') && env[name] !== undefined && !known.includes(name))
    .map((name) => `${name} is not a variable of this service; those that begin so are ${known.join(', ')}.`)
}

/** Shorter names are too similar to variables of other programs. */
const MISSPELT_LENGTH_MIN = 8

/** Sentences for the log of the service: a misspelt DATABASE_URL starts it on an empty database of its own. */
export function misspeltVariables(env: Readonly<Record<string, unknown>>): string[] {
  const known = Object.keys(Environment.properties)
  return Object.keys(env).flatMap((name) => {
    if (name.length < MISSPELT_LENGTH_MIN || known.includes(name)) return []
    const meant = nearest(name, known) ?? providerVariable(name)
    return meant === undefined ? [] : [`${name} is no variable of this service: ${meant} may be meant.`]
  })
}

/** Guesses the intended variable of a provider: a misspelt scheme is ignored, and every delivery gets the default scheme. */
function providerVariable(name: string): string | undefined {
  const [suffix = ''] = /_[^_]+_[^_]+$/.exec(name) ?? []
  const meant = nearest(suffix, PROVIDER_SUFFIXES)
  return meant === undefined || meant === suffix ? undefined : `${name.slice(0, -suffix.length)}${meant}`
}

/** With an external database the operator provisions a service; it never provisions itself (decisions §1). */
function contradictions(given: Readonly<Record<string, string>>): string[] {
  const problems: string[] = []
  const authDisabled = given['SERVICE_AUTH_DISABLED'] === 'true'
  if (authDisabled && isProduction(given))
    problems.push('SERVICE_AUTH_DISABLED must not be true when NODE_ENV is production.')
  const baseUrl = given['HUBSPOT_BASE_URL']
  if (baseUrl !== undefined && !isOrigin(baseUrl, { production: isProduction(given) }))
    problems.push(`HUBSPOT_BASE_URL must be ${describe(Environment, 'HUBSPOT_BASE_URL')}.`)
  const console = given['CONSOLE_ORIGIN']
  if (console !== undefined && !isConsoleOrigin(console))
    problems.push(`CONSOLE_ORIGIN must be ${describe(Environment, 'CONSOLE_ORIGIN')}.`)
  if (authDisabled && given['SERVICE_TOKEN_ISSUERS'] !== undefined)
    problems.push(
      'SERVICE_TOKEN_ISSUERS must not be set with SERVICE_AUTH_DISABLED: no token would be checked.',
    )
  if (console !== undefined && authDisabled)
    problems.push('CONSOLE_ORIGIN must not be set with SERVICE_AUTH_DISABLED: no human could log in.')
  for (const name of ['DATABASE_URL', 'DATABASE_READ_URL'])
    if (given[name] !== undefined && !isConnectionString(given[name]))
      problems.push(`${name} cannot be read: its host, port or path is malformed.`)
  problems.push(...logContradictions(given))
  if (given['DATABASE_URL'] === undefined) {
    if (given['DATABASE_READ_URL'] !== undefined)
      problems.push('DATABASE_READ_URL needs DATABASE_URL: it names a replica of that database.')
    return problems
  }
  if (given['SERVICE_API_KEYS'] === undefined && !authDisabled)
    problems.push(
      'SERVICE_API_KEYS is required with DATABASE_URL. To make an entry: countersign callers issue <callerId>',
    )
  if (given['SIGNING_KEY_DIR'] === undefined)
    problems.push(
      'SIGNING_KEY_DIR is required with DATABASE_URL. To make keys: countersign keys generate --dir <folder>',
    )
  return problems
}

function logContradictions(given: Readonly<Record<string, string>>): string[] {
  const is = (name: string) => given[name] !== undefined
  const [log, witness] = [given['LOG'] !== 'off', is('WITNESS_LOGS')]
  const problems: string[] = []
  if (is('LOG_ORIGIN') && !log && !witness)
    problems.push('LOG_ORIGIN must not be set with LOG=off, unless WITNESS_LOGS is set.')
  for (const name of ['LOG_ACCESS', 'LOG_WITNESS_POLICY', 'CATALOGUE_DAYS'] as const)
    if (is(name) && !log) problems.push(`${name} must not be set with LOG=off.`)
  if (given['CATALOGUE'] === 'on' && !log)
    problems.push('CATALOGUE must not be on with LOG=off: it follows the evidence log.')
  if (is('LOG_WITNESS_MODE') && !is('LOG_WITNESS_POLICY'))
    problems.push('LOG_WITNESS_MODE needs LOG_WITNESS_POLICY.')
  if (witness && !is('LOG_ORIGIN'))
    problems.push(
      'WITNESS_LOGS needs LOG_ORIGIN: what this service cosigns is signed by <LOG_ORIGIN>/witness.',
    )
  return problems
}

function isProduction(env: Readonly<Record<string, string | undefined>>): boolean {
  return env['NODE_ENV'] === 'production'
}

/** A token may be sent unencrypted only to this machine. Private addresses are the operator's choice. */
function isOrigin(value: string, { production }: { production: boolean }): boolean {
  const url = URL.parse(value)
  if (url === null || url.href !== `${url.origin}/`) return false
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && !production && isLoopbackLiteral(url.hostname))
  )
}

/** An origin with secure cookies and passkeys in browsers: TLS, or this machine by its name. */
function isConsoleOrigin(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || url.origin !== value) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && /^(.+\.)?localhost$/.test(url.hostname))
}

/** Parses it as the driver does, which accepts socket folders that no URL parser accepts. Opens no connection. */
function isConnectionString(connectionString: string): boolean {
  try {
    return new Client({ connectionString }) instanceof Client
  } catch {
    return false
  }
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value))
    if (typeof member === 'object' && member !== null) deepFreeze(member)
  return Object.freeze(value)
}
