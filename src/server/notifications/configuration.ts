// NOTIFICATIONS: a YAML file that says how approvers are told of approval requests (docs/handbook/approving.md "Be told").
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Type, type Static, type TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { DocumentError, documentOf, type DocumentMistake } from '../../core/cel/mistakes.ts'
import { sentenceOf, shapeMistakes } from '../../core/cel/shape.ts'
import { readYaml } from '../../core/cel/yaml.ts'
import type { NotificationWay } from '../../store/queues/notification-queue.ts'
import { isLoopbackLiteral } from '../../core/outbound/address.ts'

/** A configured way with its secrets read. */
export type ConfiguredWay = NotificationWay & {
  /** The capabilities whose requests it announces; undefined: all. */
  readonly capabilities: readonly string[] | undefined
  /** Whether messages show target, parameters and note, which the requester wrote. */
  readonly details: boolean
} & (
    | { readonly kind: 'slack' | 'teams'; readonly url: string }
    | {
        readonly kind: 'webhook'
        readonly url: string
        /** Key of the HMAC; undefined: deliveries are not signed. */
        readonly secret: Buffer | undefined
      }
    | {
        readonly kind: 'email'
        readonly server: URL
        readonly password: string | undefined
        readonly from: string
        readonly to: readonly string[]
        /** Addresses by approverId: each is told of the requests that the approver could sign. */
        readonly approvers: Readonly<Record<string, string>>
      }
  )

const WAYS_MAX = 20
/** The name becomes part of a queue's name. */
const NAME = '^[a-z0-9][a-z0-9-]{0,39}$'
const ADDRESS = '^[^\\s<>,;"]+@[^\\s<>,;"]+$'

const common = {
  name: Type.String({ pattern: NAME }),
  kind: Type.Enum(['slack', 'teams', 'webhook', 'email']),
  capabilities: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
  details: Type.Optional(Type.Boolean()),
}
const url = {
  url: Type.Optional(Type.String()),
  urlFile: Type.Optional(Type.String({ minLength: 1 })),
}
const strict = { additionalProperties: false } as const
const shapes = {
  slack: Type.Object({ ...common, ...url }, strict),
  teams: Type.Object({ ...common, ...url }, strict),
  webhook: Type.Object(
    { ...common, ...url, secretFile: Type.Optional(Type.String({ minLength: 1 })) },
    strict,
  ),
  email: Type.Object(
    {
      ...common,
      server: Type.String(),
      passwordFile: Type.Optional(Type.String({ minLength: 1 })),
      from: Type.String({ pattern: ADDRESS }),
      to: Type.Optional(Type.Array(Type.String({ pattern: ADDRESS }))),
      approvers: Type.Optional(Type.Record(Type.String(), Type.String({ pattern: ADDRESS }))),
    },
    strict,
  ),
}
type Kind = keyof typeof shapes
type Given<K extends Kind> = Static<(typeof shapes)[K]>

const sendDocument = documentOf(
  Type.Object({ send: Type.Array(Type.Object({}), { minItems: 1, maxItems: WAYS_MAX }) }, strict),
)
const ofAnyKind = Type.Object({ kind: common.kind })

interface Reading {
  readonly folder: string
  readonly production: boolean
  /** `send.0`, which begins each sentence. */
  readonly place: string
  readonly problems: string[]
}

/**
 * Reads the file that NOTIFICATIONS names.
 * @throws DocumentError with every mistake; no secret is repeated
 */
export function readNotifications(
  file: string,
  { production }: { readonly production: boolean },
): ConfiguredWay[] {
  const { value, positionOf } = readYaml(file)
  const { send } = sendDocument(value, { file, positionOf })
  const mistakes: DocumentMistake[] = []
  const names = new Set<string>()
  const ways = send.flatMap((given, index) => {
    const reading = { folder: dirname(file), production, place: `send.${index}`, problems: [] as string[] }
    const way = wayOf(given, reading)
    if (way !== undefined && names.has(way.name))
      reading.problems.push(`${reading.place}.name '${way.name}' is taken by an earlier one.`)
    if (way !== undefined) names.add(way.name)
    const line = positionOf(['send', index])?.line
    mistakes.push(
      ...reading.problems.map((message) => ({ file, ...(line === undefined ? {} : { line }), message })),
    )
    return way ?? []
  })
  if (mistakes.length > 0) throw new DocumentError(mistakes)
  return ways
}

function wayOf(given: unknown, reading: Reading): ConfiguredWay | undefined {
  const kind = shaped(ofAnyKind, given, reading)?.kind
  if (kind === undefined) return undefined
  if (kind === 'email') {
    const way = shaped(shapes[kind], given, reading)
    return way && emailOf(way, reading)
  }
  if (kind === 'webhook') {
    const way = shaped(shapes[kind], given, reading)
    return way && { ...commonOf(way), kind, url: urlOf(way, reading), secret: secretOf(way, reading) }
  }
  const way = shaped(shapes[kind], given, reading)
  return way && { ...commonOf(way), kind, url: urlOf(way, reading) }
}

function shaped<Schema extends TSchema>(
  schema: Schema,
  given: unknown,
  { place, problems }: Reading,
): Static<Schema> | undefined {
  if (Check(schema, given)) return given
  const mistakes = shapeMistakes(schema, given)
  problems.push(...mistakes.map((mistake) => `${place}: ${sentenceOf(mistake, 0, 'it')}`))
  return undefined
}

function commonOf({ name, capabilities, details = false }: Given<'slack'>) {
  return { name, capabilities, details }
}

/** Incoming webhooks are secrets: a person who has the URL can post there. */
function urlOf({ url: text, urlFile }: Pick<Given<'slack'>, 'url' | 'urlFile'>, reading: Reading): string {
  const { place, problems, production } = reading
  if ((text === undefined) === (urlFile === undefined)) {
    problems.push(`${place} must have either url or urlFile.`)
    return ''
  }
  const given = text ?? fileText(urlFile!, 'urlFile', reading) ?? ''
  const parsed = URL.parse(given)
  const isSafe =
    parsed?.protocol === 'https:' ||
    (parsed?.protocol === 'http:' && !production && isLoopbackLiteral(parsed.hostname))
  if (parsed === null || !isSafe || parsed.username !== '' || parsed.hash !== '')
    problems.push(
      `${place}.${text === undefined ? 'urlFile' : 'url'} must be an https URL without credentials and fragment, or http to a loopback address outside production.`,
    )
  return given
}

function secretOf({ secretFile }: Given<'webhook'>, reading: Reading): Buffer | undefined {
  if (secretFile === undefined) return undefined
  const text = fileText(secretFile, 'secretFile', reading)
  if (text === undefined) return undefined
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text) ?? []
  const secret = Buffer.from(base64, 'base64')
  if (secret.length < 24 || secret.length > 64)
    reading.problems.push(`${reading.place}.secretFile must hold whsec_ and the Base64 of 24 to 64 bytes.`)
  return secret
}

function emailOf(given: Given<'email'>, reading: Reading): ConfiguredWay | undefined {
  const { place, problems, production } = reading
  const { from, to = [], approvers = {}, passwordFile } = given
  const server = URL.parse(given.server)
  const isServer =
    server !== null &&
    ['smtp:', 'smtps:'].includes(server.protocol) &&
    server.hostname !== '' &&
    server.password === '' &&
    ['', '/'].includes(server.pathname) &&
    server.search === ''
  if (!isServer) {
    problems.push(
      `${place}.server must be smtps://<user>@<host>, or smtp:// where the server offers STARTTLS; the password stands in passwordFile.`,
    )
    return undefined
  }
  if (production && server.protocol === 'smtp:' && isLoopbackLiteral(server.hostname))
    problems.push(`${place}.server must not be a loopback address in production: such mail is not encrypted.`)
  if (to.length === 0 && Object.keys(approvers).length === 0)
    problems.push(`${place} must have an address in to or approvers.`)
  if ((server.username === '') !== (passwordFile === undefined))
    problems.push(`${place} must have both a user in server and passwordFile, or neither.`)
  const password = passwordFile === undefined ? undefined : fileText(passwordFile, 'passwordFile', reading)
  return { ...commonOf(given), kind: 'email', server, password, from, to, approvers }
}

/** The text of a file without the line break that editors add; a relative path starts at the configuration's own folder. */
function fileText(path: string, member: string, { folder, place, problems }: Reading): string | undefined {
  try {
    return readFileSync(resolve(folder, path), 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code = 'an error' } = error as NodeJS.ErrnoException
    problems.push(`${place}.${member} cannot be read: ${code}.`)
    return undefined
  }
}
