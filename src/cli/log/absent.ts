// countersign log absent: asks a service how often an id is in its logs, and verifies the proofs.
import { errorText } from '../../formats/text/error-text.ts'
import { verifyAbsence, type IdFindings } from '../../formats/log/absence.ts'
import type { IdKind } from '../../formats/log/ids.ts'
import { readOrigin } from '../../formats/log/origin.ts'
import { printable } from '../../formats/text/printable.ts'
import { noteCrypto } from '../../core/signing/log-keys.ts'
import { LogKeyNotGiven } from '../../formats/verifier/log-trust.ts'
import { sayCannotCheck } from '../cannot-check.ts'
import type { Given } from '../command.ts'
import { get, jsonOf, type ServiceAt } from '../service.ts'
import type { absent } from './commands.ts'
import { checkpointOpener, type CheckpointOpener } from './trust.ts'
import { logPath } from './other-logs.ts'

/** 0 the id is not among the covered entries, 1 it is there or the answer does not prove its own statement, 2 it could not be checked. */
type Code = 0 | 1 | 2

/**
 * Prints the proven result.
 * @returns for several logs 1 before 2 before 0: an id in one log is there, and only an id that no log has is absent
 */
export async function absentCommand({
  log: trust,
  number,
  id,
  ...request
}: Given<typeof absent>): Promise<Code> {
  let policy: CheckpointOpener
  try {
    policy = checkpointOpener(trust)
  } catch (error) {
    return sayCannotCheck(error)
  }
  const asked = { ...request, id: request.kind === 'approval' ? id : id.toLowerCase(), policy }
  const newest = await askLog(asked, number)
  const codes = [newest.code]
  // Each log has its own ids: an id that the newest log lacks may be in an earlier one.
  const newestNumber =
    number === undefined && newest.origin !== undefined ? (readOrigin(newest.origin)?.number ?? 1) : 1
  for (let older = newestNumber - 1; older >= 1; older--) codes.push((await askLog(asked, older)).code)
  if (number !== undefined) console.log('Other logs of the service were not asked: without --number all are.')
  return codes.includes(1) ? 1 : codes.includes(2) ? 2 : 0
}

interface Asked extends ServiceAt {
  readonly kind: IdKind
  readonly id: string
  readonly policy: CheckpointOpener
}

/**
 * @param number undefined: the newest log
 * @returns origin of the log, where its answer is valid
 */
async function askLog(
  { kind, id, policy, ...service }: Asked,
  number: number | undefined,
): Promise<{ readonly code: Code; readonly origin?: string }> {
  let answer: unknown
  try {
    answer = jsonOf(await get(service, `${logPath(number)}/absence/${kind}/${encodeURIComponent(id)}`))
  } catch (error) {
    return { code: sayCannotCheck(error) }
  }
  try {
    const found = verifyAbsence(answer, { kind, id, policy }, noteCrypto)
    const { origin } = found.checkpoint
    if (number !== undefined && readOrigin(origin)?.number !== number)
      throw new Error(`it is of ${origin}, and log ${number} was asked`)
    if (found.coveredTo === 0) {
      console.error(
        `countersign: No run of ids covers an entry of ${printable(origin)} yet: ask again one hour after the entry.`,
      )
      return { code: 2, origin }
    }
    for (const line of described({ kind, id }, found)) console.log(printable(line))
    return { code: found.indexes.length === 0 ? 0 : 1, origin }
  } catch (error) {
    if (error instanceof LogKeyNotGiven) return { code: sayCannotCheck(error) }
    console.log(printable(`The answer proves nothing: ${errorText(error)}.`))
    return { code: 1 }
  }
}

function described(
  { kind, id }: Pick<Asked, 'kind' | 'id'>,
  { checkpoint: { origin, size }, indexes, coveredTo }: IdFindings,
): string[] {
  const times = indexes.length === 1 ? 'once' : `${indexes.length} times`
  return [
    indexes.length === 0
      ? `No ${kind} ${id} is among the first ${coveredTo} entries of ${origin}.`
      : `The ${kind} ${id} is ${times} among the first ${coveredTo} entries of ${origin}: at index ${indexes.join(', ')}.`,
    `The ${size - coveredTo} newest entries under the checkpoint are not covered: ask again one hour after the entry in question. The last entries of a closed log are never covered.`,
    'That follows from the signed checkpoint, provided that the log sorted its ids rightly: `countersign log audit` checks that for all of them.',
  ]
}
