// Proves that a list holds every entry of a stream: the stream's head states their number, the tree of heads is the last entry under a
// checkpoint, and the entries have the numbers from 1 up to that count (docs/handbook/log.md "Prove that a list is complete"). Browser-safe.
import { toHex } from '../bytes.ts'
import { leafHash, rootOfInclusion } from '../merkle/tree.ts'
import { base64 } from '../base64.ts'
import type { OpenedCheckpoint } from './checkpoint.ts'
import { formatEntry, parseEntry, streamNames, streamTag, type LogEntry, type StreamName } from './entry.ts'
import { headData } from './heads.ts'
import type { NoteCrypto } from './note.ts'
import {
  assertLogged,
  integerOf,
  listOf,
  membersOf,
  openedBy,
  pathOf,
  textOf,
  type Members,
  type OpenedBy,
} from './statement.ts'

/** The name of a stream: one caller, capability, policy or approver. */
export interface NamedStream {
  readonly name: StreamName
  readonly value: string
}

export interface NumberedEntry extends LogEntry {
  /** Number in the stream. */
  readonly n: number
  /** Index in the log. */
  readonly index: number
}

/** The list that a statement proves. */
export interface ProvenList {
  readonly checkpoint: OpenedCheckpoint
  /** The stream that the statement names. */
  readonly stream: NamedStream
  /** 16 lowercase hex digits that represent the stream in the log. */
  readonly tag: string
  /** Whether the tag was computed from the name. If not, the list belongs to the tag, and only the service states whose tag it is. */
  readonly tied: boolean
  /** Number of entries of the stream under the checkpoint. */
  readonly count: number
  /** The index of the last of these entries. */
  readonly lastIndex: number
  /** Every entry with a number of the range, in order. */
  readonly entries: readonly NumberedEntry[]
}

/**
 * Checks an answer of POST /log/completeness. Nothing in it is trusted before.
 *
 * @param request.stream the requested stream
 * @param request.salt the salt of the log, 32 bytes, which ties the tag to the name; default: the salt in the statement, if there is one.
 *   Anybody who has it can try names
 * @param request.from the number of the first entry that must be in the list
 * @param request.to the number of the last entry; default: the last of the stream
 * @throws Error that names the failed check
 */
export function verifyCompleteness(
  statement: unknown,
  {
    policy,
    stream: expected,
    salt,
    from = 1,
    to,
  }: {
    readonly policy: OpenedBy
    readonly stream?: NamedStream
    readonly salt?: Uint8Array
    readonly from?: number
    readonly to?: number
  },
  crypto: NoteCrypto,
): ProvenList {
  const read = membersOf(statement, 'the statement')
  const note = textOf(read, 'checkpoint')
  const checkpoint = openedBy(policy, note, crypto)
  if (textOf(read, 'log') !== checkpoint.origin)
    throw new Error(
      `the checkpoint is not one of the log that the statement names, but of ${checkpoint.origin}`,
    )
  const stream = streamOf(read)
  if (expected !== undefined && (expected.name !== stream.name || expected.value !== stream.value))
    throw new Error(`the statement is about another stream than ${expected.name}=${expected.value}`)
  const tag = tagOf(read)
  const tied = isTied({ stream, tag, salt: salt ?? saltOf(read) }, crypto)
  const { n: count, lastIndex } = provenHead(read, tag, checkpoint, crypto)
  const entries = provenEntries(read, { stream: stream.name, tag, from }, checkpoint, crypto)
  const [last, end] = [from + entries.length - 1, to ?? count]
  if (last !== end || end > count)
    throw new Error(
      `the stream has ${count} entries, and the statement holds ${entries.length} from number ${from} on, not those up to ${end}`,
    )
  for (const { n, index } of entries)
    if (n === count ? index !== lastIndex : index >= lastIndex)
      throw new Error(
        `entry ${n} of the stream is at index ${index}, and its head says that the last is at ${lastIndex}`,
      )
  return { checkpoint, stream, tag, tied, count, lastIndex, entries }
}

/** The head of the stream; the root of the tree of heads is the last entry under the checkpoint. */
function provenHead(
  read: Members,
  tag: string,
  checkpoint: OpenedCheckpoint,
  crypto: NoteCrypto,
): { n: number; lastIndex: number } {
  const { sha256 } = crypto
  const head = membersOf(read['head'], 'the head')
  const [n, lastIndex] = [integerOf(head, 'n'), integerOf(head, 'lastIndex')]
  const root = rootOfInclusion(
    {
      leafHash: leafHash(headData({ tag, n, lastIndex }), sha256),
      index: integerOf(head, 'position'),
      // A wrong count that still leads to the root proves the same: that the head is in the tree.
      size: integerOf(head, 'count'),
      path: pathOf(head),
    },
    sha256,
  )
  const heads = membersOf(read['heads'], 'the heads')
  const [index, path] = [integerOf(heads, 'index'), pathOf(heads)]
  if (index !== checkpoint.size - 1) throw new Error('the heads are not the last entry under the checkpoint')
  const entry = formatEntry({ kind: 'heads', hash: toHex(root), streams: [] })
  assertLogged({ entry, index, path }, 'the entry of the heads', checkpoint, crypto)
  return { n, lastIndex }
}

/** The entries, each in the tree and numbered without gaps from `from`. */
function provenEntries(
  read: Members,
  { stream, tag, from }: { stream: StreamName; tag: string; from: number },
  checkpoint: OpenedCheckpoint,
  crypto: NoteCrypto,
): NumberedEntry[] {
  return listOf(read, 'entries').map((item, i) => {
    const [which, n] = [`entry ${i + 1} of the list`, from + i]
    const members = membersOf(item, which)
    const [text, index] = [textOf(members, 'entry'), integerOf(members, 'index')]
    const entry = parseEntry(text)
    const number = entry.streams.find((one) => one.stream === stream)
    if (number?.tag !== tag) throw new Error(`${which} is not one of the stream`)
    if (number.n !== n) throw new Error(`${which} has the number ${number.n} in the stream, not ${n}`)
    assertLogged({ entry: text, index, path: pathOf(members) }, which, checkpoint, crypto)
    return { ...entry, n, index }
  })
}

/** @throws Error when there is a salt and the tag belongs to another name */
function isTied(
  { stream, tag, salt }: { stream: NamedStream; tag: string; salt: Uint8Array | undefined },
  { sha256 }: NoteCrypto,
): boolean {
  if (salt === undefined) return false
  if (streamTag({ salt, stream: stream.name, value: stream.value }, sha256) !== tag)
    throw new Error(`the tag ${tag} is not that of ${stream.name}=${stream.value}`)
  return true
}

function streamOf(read: Members): NamedStream {
  const members = Object.entries(membersOf(read['stream'], 'the stream'))
  const [[given, value] = []] = members
  const name = streamNames.find((known) => known === given)
  if (members.length !== 1 || name === undefined || typeof value !== 'string')
    throw new Error('the statement names no stream')
  return { name, value }
}

function tagOf(read: Members): string {
  const tag = textOf(read, 'tag')
  if (!/^[0-9a-f]{16}$/.test(tag)) throw new Error('the tag is not 16 lowercase hex digits')
  return tag
}

function saltOf(read: Members): Uint8Array | undefined {
  if (read['salt'] === undefined) return undefined
  const salt = base64(textOf(read, 'salt'))
  if (salt === undefined) throw new Error('the salt is not canonical base64')
  return salt
}
