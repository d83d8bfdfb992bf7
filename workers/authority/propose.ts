// Proposes a change of any kind (decisions §7): body → proposal → compared with the state in effect → signed and stored.
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import type { ChangeKindName } from '../../src/formats/schemas/governance.ts'
import { changeText } from '../../src/store/tables/sealed.ts'
import { insertChange } from '../../src/store/tables/pending-changes.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { openChange, recordChange } from './change.ts'
import type { ChangeKinds } from './kinds.ts'

interface ProposeWith extends Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries' | 'existingStreams'> {
  readonly changeKinds: ChangeKinds
}

export async function proposeChange(request: WorkerRequest, thread: ProposeWith) {
  const { pool, changeKinds } = thread
  const kindName = request.params['kind'] as ChangeKindName
  const kind = changeKinds[kindName]
  const proposal = kind.read(request.body, request.params)
  if (proposal instanceof Failure) return proposal
  const { target, reason } = proposal
  const proposedBy = request.caller.callerId
  const refused = await kind.check?.(proposal.proposed)
  if (refused !== undefined) return refused

  return allOrNothing(pool, async (sql) => {
    const contradiction = await kind.contradiction?.(proposal.proposed, sql)
    if (contradiction !== undefined) return contradiction
    const examined = await kind.examine({ ...proposal, proposedBy }, sql)
    if (examined instanceof Failure) return examined
    const { proposed, ...advice } = examined
    const change = openChange({
      kind: kindName,
      target,
      proposed,
      reason,
      proposedBy,
      proposedAt: new Date().toISOString(),
    })
    const recording = startRecording(thread)
    const stored = { ...recordChange(change, recording), advice: canonicalize({ ...advice }) }
    if (!(await insertChange(sql, { ...change, ...stored })))
      return failures.conflict(
        `A change of ${change.target} is open already: approve or reject it first (GET /changes?status=PENDING_APPROVAL).`,
      )
    await sql.run(recording.statements())
    return { status: 201, body: changeText(stored) }
  })
}
