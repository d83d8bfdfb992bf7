// GET of one change. While it is open, its warnings and its diff are computed anew: the state in effect moves on after a proposal, and a signer must
// know the effect of an approval now.
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import type { ChangeKindName } from '../../src/formats/schemas/governance.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { readChange } from '../../src/store/tables/pending-changes.ts'
import { changeText } from '../../src/store/tables/sealed.ts'
import { readStandIns } from '../../src/store/tables/stand-ins.ts'
import type { ThreadContext } from '../context.ts'
import type { WorkerRequest } from '../in-flight.ts'
import type { Change } from './change.ts'
import type { Advice } from './change-kind.ts'
import type { ChangeKinds } from './kinds.ts'

export async function showChange(
  { caller, params }: WorkerRequest,
  { pool, changeKinds }: Pick<ThreadContext, 'pool'> & { readonly changeKinds: ChangeKinds },
) {
  const kind = params['kind'] as ChangeKindName
  const { id } = params
  const stored = isUuid(id) ? await readChange(pool, { kind, changeId: id }) : null
  if (stored === null) return failures.changeNotFound()
  const change = JSON.parse(stored.body) as Change
  if (change.status !== 'PENDING_APPROVAL') return { body: changeText(stored) }
  const examined = await changeKinds[kind].examine(change, pool)
  const { warnings, diff } = examined instanceof Failure ? refused(examined, stored.advice) : examined
  const remarks = await remarksFor(caller, pool)
  const advice = canonicalize({
    warnings: [...remarks, ...warnings],
    ...(diff === undefined ? {} : { diff }),
  })
  return { body: changeText({ ...stored, advice }) }
}

/** The advice of the proposal, with the reason why an approval would be refused now. */
function refused({ message }: Failure, stored: string): Advice {
  const advice = JSON.parse(stored) as Advice
  return { ...advice, warnings: [`An approval would be refused now: ${message}`, ...advice.warnings] }
}

/** An approver may have forgotten a stand-in of theirs; changes are signed by callers, who have no stand-ins. */
async function remarksFor({ approverId }: WorkerRequest['caller'], sql: Sql): Promise<string[]> {
  if (approverId === undefined) return []
  const now = new Date().toISOString()
  return (await readStandIns(sql))
    .filter((one) => one.for === approverId && one.from <= now && now < one.until)
    .map(
      ({ by, until }) =>
        `${by} stands in for you, ${approverId}, until ${until}: your signature on a change counts all the same.`,
    )
}
