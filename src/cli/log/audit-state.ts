// An audit checks the rows that the log works with, beside its entries: runs of ids, streams, the queue, and whether the log continues
// at all.
import { DamagedLog } from '../../formats/log/damaged.ts'
import { readQueued } from '../../store/tables/log-queue.ts'
import type { OpenedLog } from '../../store/tables/log-state.ts'
import { areStreamsStated } from '../../store/tables/log-streams.ts'
import type { Check, Finding } from '../fsck/check.ts'
import type { Run } from '../fsck/run.ts'
import { checkRuns } from './check-runs.ts'
import type { Coverage } from './coverage.ts'

/** Finds problems of the runs of ids, which proofs of absence rest on. */
export async function runProblems(
  { tools: { sql }, ask }: Run,
  { log, origin }: OpenedLog,
  coverage: Coverage,
): Promise<readonly string[]> {
  const problems: string[] = []
  await ask(`the runs of ids of ${origin}`, async () => {
    try {
      const { size } = coverage
      const account = (entryIndex: number) => coverage.account(entryIndex)
      for await (const sentence of checkRuns(sql, { log, size, account })) problems.push(sentence)
    } catch (error) {
      if (!(error instanceof DamagedLog)) throw error
      problems.push(error.message)
    }
  })
  return problems.map((sentence) => sentence.replace(/\.$/, ''))
}

/** Finds streams whose next numbers do not continue the signed ones. */
export async function streamProblems(
  { tools: { sql }, ask }: Run,
  { log, origin }: OpenedLog,
  size: number,
): Promise<Finding[]> {
  const areStated = await ask(`the streams of ${origin}`, () => areStreamsStated(sql, { log, size }))
  if (areStated !== false) return []
  const problem =
    'the streams, as they are stored, are not those of its entries: the next ones would contradict them'
  return [{ table: 'log', key: origin, problem }]
}

/** Checks the rows that are committed and not in the tree yet. */
export const queueCheck: Check = {
  table: 'log_queue',
  text: 'SELECT c.seq::text AS key, c.entries FROM $table AS c',
  async examine(page) {
    const findings: Finding[] = []
    for (const { key, entries } of page as readonly { key: string; entries: string }[]) {
      try {
        readQueued(key, entries)
      } catch {
        findings.push({ table: 'log_queue', key, problem: 'cannot be read, and the log stops before it' })
      }
    }
    return { counted: {}, findings }
  },
}

/** @param newest the newest log: an older one that was frozen is followed by another */
export function frozen(newest: OpenedLog | undefined): Finding[] {
  if (newest === undefined || newest.frozen === null) return []
  return [{ table: 'log', key: newest.origin, problem: `is frozen, and signs nothing: ${newest.frozen}` }]
}
