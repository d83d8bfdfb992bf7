// A caller as a witness of the evidence log: it remembers the newest checkpoint that it saw, and makes the service prove that each later checkpoint
// holds the same entries. For Node: `createCountersign` takes it as an option, so that no browser build holds it.
import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseJsonText } from '../../../src/formats/json/text.ts'
import {
  openCheckpoint,
  parseCheckpoint,
  type Checkpoint,
  type OpenedCheckpoint,
} from '../../../src/formats/log/checkpoint.ts'
import {
  formatVkey,
  parseNote,
  parseVkey,
  verifierKey,
  type NoteCrypto,
  type VerifierKey,
} from '../../../src/formats/log/note.ts'
import { parsePolicy } from '../../../src/formats/log/policy.ts'
import { assertConsistent } from '../../../src/formats/merkle/consistency.ts'
import { base64 } from '../../../src/formats/base64.ts'
import { LogContradictionError, type Contradiction } from './errors.ts'
import type { LogWitness } from './witness.ts'

export interface LogWitnessOptions {
  /**
   * The file that remembers the newest checkpoint, as JSON `{origin, vkeys, checkpoint}`. Its folder must exist. Each process needs a file of its
   * own, and so does the Python client, whose lock is not known here. A contradiction is kept beside it, as `<file>.contradiction-<time>.json`.
   */
  readonly logCheckpointFile: string
  /** Seconds between two checks. Default: 60. 0 checks before each execution. */
  readonly logCheckIntervalSeconds?: number
  /**
   * The trusted keys: the saved answer of GET /.well-known/countersign-log, as text or parsed, or the text of a C2SP tlog-policy. Default: the keys
   * that the service names at the first check, which the file keeps from then on.
   */
  readonly log?: string | object
  /** Called with a sentence where the log could not be checked, or where another log was begun. Default: `console.warn`. */
  readonly onWarning?: (sentence: string) => void
}

interface Remembered {
  readonly keys: readonly VerifierKey[]
  readonly note: string
  readonly checkpoint: Checkpoint
}

/** The service did not answer, or has no log: the log cannot be checked. */
class Skipped extends Error {}

/** An answer that is longer than any valid answer. */
class TooLarge extends Skipped {}

type Get = Parameters<LogWitness['check']>[0]

/** A caller that continues after a contradiction would fill the disk with files of it. */
const CONTRADICTIONS_MAX = 100
/** A checkpoint with 32 signatures has 110 KB. */
const ANSWER_BYTES_MAX = 256 * 1024
/** A proof has two levels. A deeper answer is kept as text, because it could not be written as JSON again. */
const ANSWER_DEPTH_MAX = 64

/**
 * Makes a client a witness of the evidence log: `createCountersign({ …, logWitness: openLogWitness({ … }) })`. The log is checked before an execution
 * is sent. A log that is off, or a service that cannot be reached, causes only a warning.
 * @throws Error for a folder that does not exist, a `log` without a key that this Node can check, and a negative interval
 */
export function openLogWitness({
  logCheckpointFile: file,
  logCheckIntervalSeconds: intervalSeconds = 60,
  log,
  onWarning = (sentence) => console.warn(`countersign: ${sentence}`),
}: LogWitnessOptions): LogWitness {
  if (!(intervalSeconds >= 0)) throw new RangeError('logCheckIntervalSeconds must be a number, 0 or more.')
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new Error(`There is no folder ${dirname(file)} for the logCheckpointFile.`)
  const given = log === undefined ? undefined : trustedKeys(log)
  let checkedMs = -Infinity
  let checking: Promise<void> | undefined

  async function checkNow(get: Get): Promise<void> {
    try {
      await compareNewest({ get, file, given, onWarning })
    } catch (error) {
      if (!(error instanceof Skipped)) throw error
      onWarning(`the evidence log was not checked: ${error.message}.`)
    }
    checkedMs = performance.now()
  }

  return {
    async check(get) {
      if (performance.now() - checkedMs < intervalSeconds * 1000) return
      // Executions that begin at the same time wait for one check.
      checking ??= checkNow(get).finally(() => (checking = undefined))
      await checking
    },
  }
}

interface Checking {
  readonly get: Get
  readonly file: string
  readonly given: readonly VerifierKey[] | undefined
  readonly onWarning: (sentence: string) => void
}

/**
 * Reads the newest checkpoint, checks it against the one that is remembered, and remembers it.
 * @throws LogContradictionError; Error where no trusted key signed it, or a signature does not hold
 */
async function compareNewest({ get, file, given, onWarning }: Checking): Promise<void> {
  const seen = readRemembered(file)
  const note = await textOf(get, '/log/checkpoint')
  const keys = await keysFor(note, { seen, given, get })
  const received = openCheckpoint(note, { logs: keys, witnesses: [] }, crypto)
  if (seen !== undefined) {
    await assertContinues({ seen, received, note, keys, get, file, onWarning })
    const { origin, size } = seen.checkpoint
    if (received.origin === origin && received.size === size) return
  }
  const vkeys = keys.filter(({ name }) => name === received.origin).map(formatVkey)
  try {
    await replaceFile(file, { origin: received.origin, vkeys, checkpoint: note })
  } catch (error) {
    // A file that can never be written is a mistake that the first call shows.
    if (seen === undefined) throw error
    throw new Skipped(`${file} cannot be written: ${messageOf(error)}`)
  }
}

/**
 * The keys that may sign the note: the given keys, else the remembered keys, and on first use the keys that the service names. They also sign for
 * logs that continue a closed log, which a description that was saved before does not name.
 */
async function keysFor(
  note: string,
  { seen, given, get }: { seen: Remembered | undefined } & Pick<Checking, 'given' | 'get'>,
): Promise<readonly VerifierKey[]> {
  const { origin } = parseCheckpoint(parseNote(note).text)
  const keys = given ?? seen?.keys ?? trustedKeys(await textOf(get, '/.well-known/countersign-log'))
  const before = seen?.checkpoint.origin
  if (before === undefined) return keys
  if (origin === before) return [...keys, ...inheritedKeys(before, keys)]
  if (!isSuccessor(origin, before)) return keys
  return [...keys, ...inheritedKeys(before, keys), ...inheritedKeys(origin, keys)]
}

/** The keys of the newest earlier log, under the name of this log; none where this log has keys of its own. */
function inheritedKeys(origin: string, keys: readonly VerifierKey[]): VerifierKey[] {
  if (keys.some(({ name }) => name === origin)) return []
  const closed = keys
    .map(({ name }) => name)
    .filter((name) => isSuccessor(origin, name))
    .reduce((newest, name) => (newest === '' || isSuccessor(name, newest) ? name : newest), '')
  return keys
    .filter(({ name }) => name === closed)
    .map(({ type, publicKey }) => verifierKey({ name: origin, type, publicKey }, sha256))
}

interface Comparison extends Omit<Checking, 'given'> {
  readonly seen: Remembered
  readonly received: OpenedCheckpoint
  readonly note: string
  readonly keys: readonly VerifierKey[]
}

/** @throws LogContradictionError where the newest checkpoint does not continue the log that was seen */
async function assertContinues(comparison: Comparison): Promise<void> {
  const { seen, received, note, keys, get, file, onWarning } = comparison
  const before = seen.checkpoint.origin
  if (received.origin === before) return assertGrown(comparison, '/log')
  const contradict = (shown: string, reason: string) =>
    contradiction(file, { seen: seen.note, received: shown, consistency: null, reason })
  if (!isSuccessor(received.origin, before))
    throw await contradict(note, `The log is '${received.origin}' now, and was '${before}'.`)
  // The new log proves nothing about the closed log, so the closed log must still hold the entries that were seen.
  const closed = `/log/${numbered(before)?.number}`
  const closedNote = await textOf(get, `${closed}/checkpoint`)
  const end = openCheckpoint(closedNote, { logs: keys, witnesses: [] }, crypto)
  if (end.origin !== before)
    throw await contradict(
      closedNote,
      `The log '${end.origin}' is shown in place of the closed log '${before}'.`,
    )
  await assertGrown({ ...comparison, received: end, note: closedNote }, closed)
  onWarning(`the evidence log is now '${received.origin}'; '${before}' is closed.`)
}

/** @param path before `/consistency` */
async function assertGrown({ seen, received, note, get, file }: Comparison, path: string): Promise<void> {
  const { origin, size, root } = seen.checkpoint
  const contradict = (reason: string, consistency: unknown = null) =>
    contradiction(file, { seen: seen.note, received: note, consistency, reason })
  if (received.size < size)
    throw await contradict(`The log '${origin}' had ${size} entries, and has ${received.size} now.`)
  if (received.size === size) {
    if (received.root.every((byte, i) => byte === root[i])) return
    throw await contradict(`Two checkpoints of the log '${origin}' have ${size} entries and different roots.`)
  }
  // Every log begins with no entries.
  if (size === 0) return
  let answer: unknown = null
  try {
    const bytes = await bytesOf(get, `${path}/consistency?from=${size}&to=${received.size}`)
    answer = Buffer.from(bytes).toString()
    answer = parseJsonText(textFrom(bytes), ANSWER_DEPTH_MAX)
    const range = { start: 0, end: size, size: received.size }
    assertConsistent({ ...range, partRoot: root, root: received.root, path: hashesOf(answer) }, sha256)
  } catch (error) {
    // Without an answer nothing is known. Any answer other than the proof hides earlier entries of the log.
    if (error instanceof Skipped && !(error instanceof TooLarge)) throw error
    throw await contradict(
      `The log '${origin}' is not shown to begin with the ${size} entries that it had: ${messageOf(error)}.`,
      answer,
    )
  }
}

function hashesOf(answer: unknown): Uint8Array[] {
  const hashes = isObject(answer) ? answer['hashes'] : undefined
  if (!Array.isArray(hashes) || !hashes.every((hash) => typeof hash === 'string'))
    throw new Error('the answer has no list of hashes')
  // A text that is no base64 becomes an empty hash, whose length is refused.
  return hashes.map((hash) => base64(hash) ?? new Uint8Array(0))
}

/** Keeps both sides, and returns the error. A disk that takes no file does not hide the contradiction. */
async function contradiction(file: string, held: Contradiction): Promise<LogContradictionError> {
  const before = `${basename(file)}.contradiction-`
  const time = new Date().toISOString().replaceAll(/[-:]/g, '')
  const kept = join(dirname(file), `${before}${time}.json`)
  try {
    const count = readdirSync(dirname(file)).filter((name) => name.startsWith(before)).length
    if (count >= CONTRADICTIONS_MAX) return new LogContradictionError(held, undefined)
    await replaceFile(kept, held)
    return new LogContradictionError(held, kept)
  } catch {
    return new LogContradictionError(held, undefined)
  }
}

// The file

/**
 * @throws Error for a file with other content: the checkpoint that was seen is lost, and this must not go unnoticed. Also where its own keys did not
 *   sign its checkpoint: an edited or damaged file would accuse an honest log
 */
function readRemembered(file: string): Remembered | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const { vkeys, checkpoint: note } = JSON.parse(text) as { vkeys: string[]; checkpoint: string }
    const keys = usable(vkeys.map((vkey) => parseVkey(vkey, sha256)))
    return { keys, note, checkpoint: openCheckpoint(note, { logs: keys, witnesses: [] }, crypto) }
  } catch (error) {
    throw new Error(
      `${file} does not hold the checkpoint of a log (${messageOf(error)}): move it away to begin anew.`,
      { cause: error },
    )
  }
}

/** Writes the whole file or none of it, even if the process crashes in between. */
async function replaceFile(file: string, value: object): Promise<void> {
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.${performance.now()}`)
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

// Reading the service's answers

async function textOf(get: Get, path: string): Promise<string> {
  const bytes = await bytesOf(get, path)
  try {
    return textFrom(bytes)
  } catch (error) {
    throw new Error(`the answer to GET ${path} is ${messageOf(error)}`, { cause: error })
  }
}

function textFrom(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new Error('not UTF-8 text', { cause: error })
  }
}

async function bytesOf(get: Get, path: string): Promise<Uint8Array> {
  try {
    const answer = await get(path)
    if (answer.status !== 200) throw new Skipped(`GET ${path} was answered ${answer.status}`)
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of answer.body ?? []) {
      size += chunk.length
      if (size > ANSWER_BYTES_MAX)
        throw new TooLarge(`the answer to GET ${path} has more than ${ANSWER_BYTES_MAX} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof Skipped) throw error
    throw new Skipped(`GET ${path}: ${messageOf(error)}`)
  }
}

// Trusted keys

/** The keys of the logs of a description or a policy. */
function trustedKeys(log: string | object): readonly VerifierKey[] {
  if (typeof log === 'string' && !log.startsWith('{'))
    return usable(parsePolicy(log, sha256).logs.map(({ key }) => key))
  const description: unknown = typeof log === 'string' ? JSON.parse(log) : log
  const logs = isObject(description) ? description['logs'] : undefined
  if (!Array.isArray(logs)) throw new Error('The description of the log has no list `logs`.')
  return usable(
    logs.flatMap((one: unknown) => {
      const { origin, vkeys } = isObject(one) ? one : {}
      if (!Array.isArray(vkeys)) throw new Error('A log of the description has no list `vkeys`.')
      const keys = vkeys.map((vkey) => parseVkey(String(vkey), sha256))
      if (keys.some(({ name }) => name !== origin))
        throw new Error('A key of the description has another name than its log.')
      return keys
    }),
  )
}

/** An older Node knows no ML-DSA, and checks the Ed25519 signature, which every log of Countersign has. */
function usable(keys: readonly VerifierKey[]): readonly VerifierKey[] {
  const known = keys.filter(
    ({ type }) => type === 'ed25519' || (type === 'ml-dsa-44-cosignature' && knowsMlDsa()),
  )
  if (known.length === 0) throw new Error('None of the keys of the log can be checked by this Node.')
  return known
}

/** `<name>/log/<number>` */
function numbered(origin: string): { readonly name: string; readonly number: number } | undefined {
  const [, name, number] = /^(.+)\/log\/([1-9][0-9]{0,8})$/s.exec(origin) ?? []
  return name === undefined ? undefined : { name, number: Number(number) }
}

/** Whether the names of two logs say that the first one follows the second. */
function isSuccessor(origin: string, before: string): boolean {
  const [next, last] = [numbered(origin), numbered(before)]
  return next !== undefined && last !== undefined && next.name === last.name && next.number > last.number
}

// Cryptography

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

const publicKeyOf = {
  ed25519: (bytes: Uint8Array) =>
    createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: base64url(bytes) }, format: 'jwk' }),
  'ml-dsa-44': (bytes: Uint8Array) =>
    createPublicKey({ key: { kty: 'AKP', alg: 'ML-DSA-44', pub: base64url(bytes) }, format: 'jwk' }),
} satisfies Record<string, (bytes: Uint8Array) => KeyObject>

let mlDsaIsKnown: boolean | undefined
function knowsMlDsa(): boolean {
  if (mlDsaIsKnown !== undefined) return mlDsaIsKnown
  try {
    publicKeyOf['ml-dsa-44'](new Uint8Array(1312))
    mlDsaIsKnown = true
  } catch {
    mlDsaIsKnown = false
  }
  return mlDsaIsKnown
}

const verifies =
  (keyOf: (bytes: Uint8Array) => KeyObject): NoteCrypto['verifies']['ed25519'] =>
  ({ message, signature, publicKey }) => {
    try {
      return verify(null, message, keyOf(publicKey), signature)
    } catch {
      return false
    }
  }

const crypto: NoteCrypto = {
  sha256,
  verifies: { ed25519: verifies(publicKeyOf.ed25519), 'ml-dsa-44': verifies(publicKeyOf['ml-dsa-44']) },
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // An error that fetch throws says why in its cause.
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
