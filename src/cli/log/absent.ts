// countersign log absent: asks a service how often an id stands in its log, and verifies the proof.
import { errorText } from '../../core/error-text.ts'
import { readFileSync } from 'node:fs'
import { verifyAbsence, type IdFindings } from '../../core/log/absence.ts'
import type { IdKind } from '../../core/log/ids.ts'
import { printable } from '../../core/printable.ts'
import { noteCrypto } from '../../core/signing/log-keys.ts'
import { LogKeyNotGiven, openTrusted, readLogTrust, type LogTrust } from '../../core/verifier/log-trust.ts'
import { sayCannotCheck } from '../cannot-check.ts'
import { get, jsonOf, type ServiceAt } from '../service.ts'
import { otherLogs } from './other-logs.ts'

interface AbsentRequest extends ServiceAt {
  readonly kind: IdKind
  readonly id: string
  /** Path of a saved log description or of a C2SP tlog-policy. */
  readonly trust: string
  /** Of a log that was closed. */
  readonly number: number | undefined
}

/**
 * Prints what is proven.
 * @returns the exit code: 0 the id is not among the covered entries, 1 it is there or the answer does not prove what it says, 2 it could not
 * be checked
 */
export async function absentCommand({
  kind,
  id,
  trust,
  number,
  ...service
}: AbsentRequest): Promise<0 | 1 | 2> {
  let answer: unknown
  let trusted: LogTrust
  try {
    trusted = readLogTrust(readFileSync(trust, 'utf8'), noteCrypto.sha256)
    const log = number === undefined ? '/log' : `/log/${number}`
    const path = `${log}/absence/${kind}/${encodeURIComponent(id)}`
    answer = jsonOf(await get(service, path))
  } catch (error) {
    return sayCannotCheck(error)
  }
  try {
    const asked = { kind, id: kind === 'approval' ? id : id.toLowerCase() }
    const policy = (note: string) => openTrusted(note, trusted, noteCrypto)
    const found = verifyAbsence(answer, { ...asked, policy }, noteCrypto)
    if (found.coveredTo === 0) {
      console.error(
        `countersign: No run of ids covers an entry of ${printable(found.checkpoint.origin)} yet: ask again one hour after the entry.`,
      )
      return 2
    }
    for (const line of described({ ...asked, number }, found)) console.log(printable(line))
    return found.indexes.length === 0 ? 0 : 1
  } catch (error) {
    if (error instanceof LogKeyNotGiven) return sayCannotCheck(error)
    console.log(printable(`The answer proves nothing: ${errorText(error)}.`))
    return 1
  }
}

function described(
  { kind, id, number }: Pick<AbsentRequest, 'kind' | 'id' | 'number'>,
  { checkpoint: { origin, size }, indexes, coveredTo }: IdFindings,
): string[] {
  const others = otherLogs(origin, number)
  const times = indexes.length === 1 ? 'once' : `${indexes.length} times`
  return [
    indexes.length === 0
      ? `No ${kind} ${id} is among the first ${coveredTo} entries of ${origin}.`
      : `The ${kind} ${id} is ${times} among the first ${coveredTo} entries of ${origin}: at index ${indexes.join(', ')}.`,
    `Of the ${size - coveredTo} newer entries under the checkpoint this says nothing: ask again one hour after the entry.`,
    ...(others === undefined ? [] : [`Of ${others} this says nothing either: ask each of them.`]),
    'That follows from the signed checkpoint, provided that the log sorted its ids rightly: `countersign log audit` checks that for all of them.',
  ]
}
