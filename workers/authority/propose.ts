// Proposes a change of any kind (decisions §7): body → what is proposed → against what stands → signed and stored.
import type { Pool } from 'pg'
import { canonicalize } from '../../src/canonical.ts'
import { isObject, parseBody, requiredText } from '../../src/body.ts'
import { Failure, failures } from '../../src/errors.ts'
import { changeText } from '../../src/sealed.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import { insertChange } from '../../src/tables/pending-changes.ts'
import type { Answered, Request, Travelling } from '../execute/road.ts'
import { allOrNothing, answerEach } from './all-or-nothing.ts'
import { auditedChange, openChange, signChange } from './change.ts'
import type { ChangeKindName } from './change-kind.ts'
import type { ChangeKinds } from './kinds.ts'

const REASON_LENGTH_MAX = 1000

interface ProposeWith {
  readonly pool: Pool
  readonly key: SigningKey
  readonly changeKinds: ChangeKinds
}

export function proposeChanges(batch: readonly Travelling[], tools: ProposeWith): Promise<Answered[]> {
  return answerEach(batch, (request) => propose(request, tools))
}

async function propose(request: Request, { pool, key, changeKinds }: ProposeWith) {
  const fields = parseBody(request.body)
  if (fields instanceof Failure) return fields
  if (!isObject(fields)) return failures.invalidField('The body must be a JSON object.')
  const reason = requiredText(fields, 'reason', REASON_LENGTH_MAX)
  if (reason instanceof Failure) return reason

  const kindName = request.params['kind'] as ChangeKindName
  const kind = changeKinds[kindName]
  const proposal = kind.read(fields, request.params)
  if (proposal instanceof Failure) return proposal
  const refused = await kind.check?.(proposal.proposed)
  if (refused !== undefined) return refused

  return allOrNothing(pool, async (sql) => {
    const examined = await kind.examine(proposal, sql)
    if (examined instanceof Failure) return examined
    const { proposed, ...advice } = examined
    const change = openChange({
      kind: kindName,
      target: proposal.target,
      proposed,
      reason,
      proposedBy: request.caller.callerId,
      proposedAt: new Date().toISOString(),
    })
    const stored = { ...signChange(change, key), advice: canonicalize({ ...advice }) }
    if (!(await insertChange(sql, { ...change, ...stored })))
      return failures.conflict(`A change of ${change.target} is open already.`)
    return {
      status: 201,
      body: changeText(stored),
      audit: auditedChange(change, 'governance.proposed', reason),
    }
  })
}
