// Proposes a change of any kind (decisions §7): body → proposal → compared with the state in effect → step-up of the
// proposer, where it came by a session → signed and stored.
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import {
  isProposalStepUp,
  type ChangeKindName,
  type ProposalStepUp,
} from '../../src/formats/schemas/governance.ts'
import { proposalText, type Proposed } from '../../src/formats/step-up-payload.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { changeText } from '../../src/store/tables/sealed.ts'
import { consumeStepUpNonce, insertChange } from '../../src/store/tables/pending-changes.ts'
import { allOrNothing } from '../all-or-nothing.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording } from '../evidence/recording.ts'
import type { WorkerRequest } from '../in-flight.ts'
import { openChange, recordChange } from './change.ts'
import type { ChangeKinds } from './kinds.ts'
import { checkStepUp } from './step-up.ts'

interface ProposeWith extends Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries' | 'existingStreams'> {
  readonly changeKinds: ChangeKinds
}

export async function proposeChange(request: WorkerRequest, thread: ProposeWith) {
  const { pool, changeKinds } = thread
  const kindName = request.params['kind'] as ChangeKindName
  const kind = changeKinds[kindName]
  const proposal = kind.read(request.body, request.params)
  if (proposal instanceof Failure) return proposal
  const { target, reason, stepUpAuthorization } = proposal
  const proposedBy = request.caller.callerId
  const mustSign = request.params['stepUp'] === 'required'
  const refused = await kind.check?.(proposal.proposed)
  if (refused !== undefined) return refused

  return allOrNothing(pool, async (sql) => {
    const contradiction = await kind.contradiction?.(proposal.proposed, sql)
    if (contradiction !== undefined) return contradiction
    const examined = await kind.examine({ ...proposal, proposedBy }, sql)
    if (examined instanceof Failure) return examined
    const { proposed, ...advice } = examined
    const said = { kind: kindName, target, proposed, reason }
    const now = new Date()
    const stepUp =
      mustSign || stepUpAuthorization !== undefined
        ? checkStepUp(stepUpAuthorization, {
            isShaped: isProposalStepUp,
            mismatch: (payload) => mismatchOfProposal(payload, said as Proposed),
            by: request.caller,
            now,
          })
        : undefined
    if (stepUp instanceof Failure) return stepUp
    const change = openChange({ ...said, proposedBy, proposedAt: now.toISOString() })
    const { changeId, proposedAt: at } = change
    if (
      stepUp !== undefined &&
      !(await consumeStepUpNonce(sql, { nonce: stepUp.payload.nonce, changeId, at }))
    )
      return failures.stepUpInvalid('its nonce has been used')
    const recording = startRecording(thread)
    const stored = { ...recordChange(change, recording, stepUp), advice: canonicalize({ ...advice }) }
    if (!(await insertChange(sql, { ...change, ...stored }))) return isOpenAlready(target)
    await sql.run(recording.statements())
    return { status: 201, body: changeText(stored) }
  })
}

/** A target has one open change at most. */
export function isOpenAlready(target: string): Failure {
  return failures.conflict(
    `A change of ${target} is open already: approve or reject it first (GET /changes?status=PENDING_APPROVAL).`,
  )
}

/** @returns the end of a sentence that begins with the step-up; undefined: it is for exactly this proposal */
function mismatchOfProposal(
  { kind, target, proposalHash }: ProposalStepUp['payload'],
  said: Proposed,
): string | undefined {
  if (kind !== said.kind || target !== said.target) return 'it is for another proposal'
  return proposalHash === sha256Hex(proposalText(said))
    ? undefined
    : 'its proposalHash is not that of the proposal'
}
