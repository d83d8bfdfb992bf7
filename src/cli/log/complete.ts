// countersign log complete: lists everything that the log holds of a caller, capability, policy or approver, and verifies that the list is
// complete.
import { errorText } from '../../formats/text/error-text.ts'
import type { OpenedCheckpoint } from '../../formats/log/checkpoint.ts'
import {
  verifyCompleteness,
  type NamedStream,
  type NumberedEntry,
  type ProvenList,
} from '../../formats/log/completeness.ts'
import { assertConsistent } from '../../formats/merkle/consistency.ts'
import { printable } from '../../formats/text/printable.ts'
import { noteCrypto } from '../../core/signing/log-keys.ts'
import { base64 } from '../../formats/base64.ts'
import { LogKeyNotGiven } from '../../formats/verifier/log-trust.ts'
import type { Given } from '../command.ts'
import { CannotCheck } from '../cannot-check.ts'
import { openProgress } from '../fsck/progress.ts'
import type { complete } from './commands.ts'
import { signedAt } from './fsck.ts'
import { checkpointOpener } from './trust.ts'
import { logPath, otherLogs } from './other-logs.ts'
import { get, post, type ServiceAt } from '../service.ts'

/** The service answers with 300 KB at most. */
const ANSWER_MAX_BYTES = 1024 * 1024

type CompleteRequest = Given<typeof complete>

/**
 * Prints each entry when it is proven, and then the result that all of them prove.
 * @returns the exit code: 0 the list is complete, 1 the service's answers do not prove it, 2 it could not be checked
 */
export async function completeCommand(request: CompleteRequest): Promise<0 | 1 | 2> {
  const progress = openProgress(process.stderr, { unit: 'entries' })
  try {
    const open = checkpointOpener(request.log)
    const list = await proveList(request, open, (entries, { count }) => {
      progress.clear()
      for (const { n, index, kind, hash } of entries) console.log(`${n}\t${index}\t${kind}\t${hash}`)
      progress.show({ table: 'stream', rows: entries.at(-1)?.n ?? 0, about: count })
    })
    progress.clear()
    for (const line of described(list, request.number)) console.log(printable(line))
    return 0
  } catch (error) {
    progress.clear()
    const notProven = error instanceof NotProven
    const text = printable(errorText(error))
    if (notProven) console.log(`Not proven: ${text}.`)
    else console.error(`countersign: ${text}`)
    return notProven ? 1 : 2
  }
}

/** The service's answer proves nothing. The message is a sentence without its full stop. */
class NotProven extends Error {}

/**
 * Asks for one answer after the other until it has every entry that the stream has under the first checkpoint.
 * @returns the list as the first answer proves it, with the entries of all
 */
async function proveList(
  { url, key, stream, number }: CompleteRequest,
  open: (note: string) => OpenedCheckpoint,
  onEntries: (entries: readonly NumberedEntry[], list: ProvenList) => void,
): Promise<ProvenList> {
  const service = { url, key }
  const prefix = logPath(number)
  let first: ProvenList | undefined
  let newest: OpenedCheckpoint | undefined
  for (let from = 1; ;) {
    const json = { stream: { [stream.name]: stream.value }, from, ...(first && { to: first.count }) }
    const { body } = await post(service, `${prefix}/completeness`, { json, maxBytes: ANSWER_MAX_BYTES })
    const page = proven(() => verifyPage(body, { stream, from, open }))
    first ??= page
    await follow(service, prefix, newest, page.checkpoint)
    newest = page.checkpoint
    const to = from + page.entries.length - 1
    proven(() => assertContinues(first!, page, to))
    onEntries(page.entries, first)
    if (to >= first.count) return first
    from = to + 1
  }
}

/** An answer may hold any number of entries, but must hold those that it says it has. */
function verifyPage(
  body: Buffer,
  { stream, from, open }: { stream: NamedStream; from: number; open: (note: string) => OpenedCheckpoint },
): ProvenList {
  const statement = JSON.parse(body.toString()) as { entries?: unknown } | null
  const entries = statement?.entries
  const to = from + (Array.isArray(entries) ? entries.length : 0) - 1
  return verifyCompleteness(statement, { policy: open, stream, from, to }, noteCrypto)
}

function assertContinues(first: ProvenList, page: ProvenList, to: number): void {
  if (page.tag !== first.tag) throw new Error('the answers are about streams with different tags')
  if (page.entries.length === 0) throw new Error(`the service answers without entry ${to + 1}`)
  const last = page.entries.find(({ n }) => n === first.count)
  if (last !== undefined && last.index !== first.lastIndex)
    throw new Error(
      `entry ${last.n} is at index ${last.index}, and the first answer counts one at ${first.lastIndex}`,
    )
}

/** The tree of each checkpoint must begin with that of the one before: else the entries are of different logs under one name. */
async function follow(
  service: ServiceAt,
  prefix: string,
  before: OpenedCheckpoint | undefined,
  after: OpenedCheckpoint,
): Promise<void> {
  if (before === undefined) return
  const [from, to] = [before.size, after.size]
  const path = `${prefix}/consistency?from=${from}&to=${to}`
  const hashes = to > from ? await hashesOf(service, path) : []
  proven(() => {
    if (before.origin !== after.origin) throw new Error('the answers are under checkpoints of different logs')
    if (to < from) throw new Error(`the log had ${from} entries, and then ${to}`)
    assertConsistent(
      { start: 0, end: from, size: to, partRoot: before.root, root: after.root, path: hashes },
      noteCrypto.sha256,
    )
  })
}

async function hashesOf(service: ServiceAt, path: string): Promise<Uint8Array[]> {
  const { body } = await get(service, path, { maxBytes: ANSWER_MAX_BYTES })
  return proven(() => {
    const { hashes } = JSON.parse(body.toString()) as { hashes: readonly string[] }
    return hashes.map((hash) => base64(hash) ?? new Uint8Array(0))
  })
}

/** Runs a check of the service's answer. */
function proven<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    // The result depends on a key that the reader has not given.
    if (error instanceof LogKeyNotGiven) throw new CannotCheck(`${error.message}.`)
    throw new NotProven(errorText(error), { cause: error })
  }
}

function described(
  { stream, count, tag, tied, checkpoint }: ProvenList,
  number: number | undefined,
): string[] {
  const others = otherLogs(checkpoint.origin, number)
  return [
    `${stream.name}=${stream.value}: ${count} entries, and no others under the checkpoint of ${checkpoint.size} entries of ${checkpoint.origin}${signedAt(checkpoint)}`,
    tied
      ? `Its tag in the log is ${tag}, computed from the salt that the service gives.`
      : `Its tag in the log is ${tag}, as the service says: the entries of its own receipts show whether it is.`,
    'A pass does not prove:',
    ...(others === undefined ? [] : [`  - anything of ${others}: each has a list of its own`]),
    '  - that the service counted honestly: each entry of the log has to be read for that (countersign log fsck)',
    '  - that an artifact was counted in its streams: the proof of the artifact shows that (GET /log/proofs/{kind}/{id})',
    '  - that everything was recorded',
  ]
}
