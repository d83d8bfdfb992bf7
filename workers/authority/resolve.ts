// Resolves a change of any kind (decisions §7), its checks in their order: body → 404 → same actor → step-up → state.
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { isSamePerson } from '../../src/formats/people/persons.ts'
import {
  ChangeApprovalRead,
  ChangeRejectionRead,
  isStepUpAuthorization,
  type ChangeKindName,
} from '../../src/formats/schemas/governance.ts'
import type { ImpactReport } from '../../src/formats/schemas/impact-report.ts'
import { isUuid } from '../../src/formats/schemas/primitives.ts'
import { changeText } from '../../src/store/tables/sealed.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { advanceEpoch } from '../../src/store/tables/authority-epoch.ts'
import {
  consumeStepUpNonce,
  lockChange,
  readChange,
  storeResolution,
} from '../../src/store/tables/pending-changes.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { readSigned, recordChange, type Change } from './change.ts'
import type { ChangeKinds } from './kinds.ts'
import { checkStepUp, mismatchOfChange } from './step-up.ts'

interface ResolveWith extends Pick<
  ThreadContext,
  'pool' | 'key' | 'crypto' | 'startLogEntries' | 'existingStreams' | 'persons'
> {
  readonly changeKinds: ChangeKinds
}

type Action = 'approve' | 'reject'

interface ResolutionBody {
  readonly stepUpAuthorization?: unknown
  readonly rejectionReason?: string
  readonly impactReport?: ImpactReport
}

const bodies = { approve: bodyOf(ChangeApprovalRead), reject: bodyOf(ChangeRejectionRead) }

export async function resolveChange({ caller, body, params }: WorkerRequest, thread: ResolveWith) {
  const { pool, crypto, persons, changeKinds } = thread
  const action = params['action'] as Action
  const given: ResolutionBody | Failure = bodies[action](body)
  if (given instanceof Failure) return given
  const { impactReport, rejectionReason } = given

  const kindName = params['kind'] as ChangeKindName
  const id = params['id']
  const stored = isUuid(id) ? await readChange(pool, { kind: kindName, changeId: id }) : null
  if (stored === null) return failures.changeNotFound()
  const change = readSigned(stored, crypto)
  const { changeId } = change
  if (isSamePerson(persons.current(), change.proposedBy, caller.callerId)) return failures.sameActor()
  const now = new Date()
  const stepUp = checkStepUp(given.stepUpAuthorization, {
    isShaped: isStepUpAuthorization,
    mismatch: (payload) => mismatchOfChange(payload, { change, action, impactReport }),
    by: caller,
    now,
  })
  if (stepUp instanceof Failure) return stepUp

  const kind = changeKinds[kindName]
  // The check may send requests outside, so no rows are locked meanwhile. The state counts before its result does.
  const isOpen = change.status === 'PENDING_APPROVAL'
  const refused = isOpen && action === 'approve' ? await kind.check?.(change.proposed) : undefined

  const resolution = { resolvedBy: caller.callerId, resolvedAt: now.toISOString() }
  return allOrNothing(pool, async (sql) => {
    const status = await lockChange(sql, changeId)
    if (
      !(await consumeStepUpNonce(sql, { nonce: stepUp.payload.nonce, changeId, at: resolution.resolvedAt }))
    )
      return failures.stepUpInvalid('its nonce has been used')
    if (status !== 'PENDING_APPROVAL') return failures.conflict(`The change is ${status} already.`)
    if (refused !== undefined) return refused
    if (action === 'approve') {
      const { target, proposed } = change
      const contradiction = await kind.contradiction?.(proposed, sql)
      if (contradiction !== undefined) return contradiction
      const moved = await kind.apply(
        { target, proposed, changeId, by: resolution.resolvedBy, at: resolution.resolvedAt },
        sql,
      )
      if (moved !== undefined) return moved
      await advanceEpoch(sql)
    }
    const resolved: Change = {
      ...change,
      ...resolution,
      status: action === 'approve' ? 'APPROVED' : 'REJECTED',
      ...(rejectionReason === undefined ? {} : { rejectionReason }),
      stepUpAuthorization: stepUp,
      ...(impactReport === undefined ? {} : { impactReport }),
    }
    const recording = startRecording(thread)
    const row = recordChange(resolved, recording)
    await storeResolution(sql, { changeId, status: resolved.status, ...row })
    await sql.run(recording.statements())
    return { body: changeText({ ...row, advice: stored.advice }) }
  })
}
