// An entry of the evidence log: one line of ASCII without a newline. It contains no names: an artifact is represented by its hash, and the
// parties it concerns by salted tags. Browser-safe.
import type { Sha256 } from '../merkle/tree.ts'
import { toHex } from '../bytes.ts'

/** The prefix of the kind of an artifact that was logged late, because it is older than the log or the log had lost it. */
export const LATE = 'late-'

/** The streams of the log, in the order of an entry's text: an entry is counted in each stream that it names. */
export const streamNames = ['caller', 'capability', 'policy', 'approver'] as const
export type StreamName = (typeof streamNames)[number]

/** An entry's number in a stream. */
interface StreamNumber {
  readonly stream: StreamName
  /** 16 lowercase hex digits, see `streamTag`. */
  readonly tag: string
  /** From 1. */
  readonly n: number
}

/** An artifact is under a checkpoint at most this long after it was signed, as receipts promise. */
export const MAXIMUM_DELAY_SECONDS = 60

export interface LogEntry {
  /** The kind of the hashed artifact: `receipt`, or `heads`, `ids` or `previous` for the entries that the log adds itself. */
  readonly kind: string
  /** SHA-256, 64 lowercase hex digits. */
  readonly hash: string
  /** In the order of `streamNames`. */
  readonly streams: readonly StreamNumber[]
}

/** `countersign/1 <kind> <hash>[ <stream>=<tag>:<n>]…` */
export function formatEntry({ kind, hash, streams }: LogEntry): string {
  let text = entryStart({ kind, hash })
  for (const { stream, tag, n } of streams) text += streamStart({ stream, tag }) + n
  return text
}

/** An entry up to its first stream. */
export function entryStart({ kind, hash }: Pick<LogEntry, 'kind' | 'hash'>): string {
  return `countersign/1 ${kind} ${hash}`
}

/** A stream of an entry up to its number. */
export function streamStart({ stream, tag }: Omit<StreamNumber, 'n'>): string {
  return ` ${stream}=${tag}:`
}

const KIND = /^[a-z]+(-[a-z]+)*$/
const HASH = /^[0-9a-f]{64}$/
const STREAM = /^([a-z]+)=([0-9a-f]{16}):([1-9][0-9]{0,15})$/

/** @throws Error that names the wrong part. An unknown kind is no mistake: later versions have more kinds */
export function parseEntry(text: string): LogEntry {
  const [version, kind = '', hash = '', ...rest] = text.split(' ')
  if (version !== 'countersign/1') throw new Error('the entry does not begin with countersign/1')
  if (!KIND.test(kind)) throw new Error('the kind of the entry is not in lowercase letters')
  if (!HASH.test(hash)) throw new Error('the hash of the entry is not 64 lowercase hex digits')
  const streams = rest.map(parseStream)
  const order = streams.map(({ stream }) => streamNames.indexOf(stream))
  if (order.some((position, i) => i > 0 && position <= order[i - 1]!))
    throw new Error('the streams of the entry are not each once and in order')
  return { kind, hash, streams }
}

function parseStream(text: string): StreamNumber {
  const [, name = '', tag = '', digits = ''] = STREAM.exec(text) ?? []
  const stream = streamNames.find((known) => known === name)
  const n = Number(digits)
  if (stream === undefined || !Number.isSafeInteger(n))
    throw new Error('a stream of the entry is not a known name, a tag of 16 hex digits and a number')
  return { stream, tag, n }
}

/**
 * A tag represents a value in entries: the first 8 bytes of SHA-256(salt ‖ stream name ‖ 0x00 ‖ value), in hex. Without the salt nobody
 * can try names.
 * @param salt salt of the log, 32 bytes
 */
export function streamTag(
  { salt, stream, value }: { salt: Uint8Array; stream: StreamName; value: string },
  sha256: Sha256,
): string {
  const name = new TextEncoder().encode(`${stream}\0${value}`)
  const input = new Uint8Array(salt.length + name.length)
  input.set(salt)
  input.set(name, salt.length)
  return toHex(sha256(input).subarray(0, 8))
}

/** An entry without its numbers in streams, which the sequencer assigns. */
export type ArtifactEntry = Pick<LogEntry, 'kind' | 'hash'>

export function isLateKind(kind: string): boolean {
  return kind.startsWith(LATE)
}

/** Whether a logged entry is this artifact's. A late entry does not show when the artifact was made. */
export function isEntryOf(logged: ArtifactEntry, artifact: ArtifactEntry): { late: boolean } | undefined {
  if (logged.hash !== artifact.hash) return undefined
  if (logged.kind === artifact.kind) return { late: false }
  return logged.kind === LATE + artifact.kind ? { late: true } : undefined
}
