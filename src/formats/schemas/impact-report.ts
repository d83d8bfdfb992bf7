// The impact report of a policy change (design notes): the results of its simulation over past decisions, as shown to the human who resolves
// the change. It is bounded, since it is stored with the change, and canonical, since the step-up signs its hash.
import { Type } from 'typebox'
import { closed, Instant, Sha256, Uuid } from './primitives.ts'
import { Flip, RefusedByRetirement } from './sandbox.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description: `a number: ${description}` })

const flip = Flip.properties

export const ImpactReport = closed({
  version: Type.Literal(1, { description: '1' }),
  changeId: Uuid,
  changeHash: Sha256,
  since: Instant,
  until: Instant,
  madeAt: Instant,
  examined: count('transactions of the range, of any policy'),
  decided: count('those of them that were decided under this policy'),
  skipped: count('transactions under this policy that were never decided'),
  unknown: Type.Optional(
    count(
      'those of them that the document decides by a value of then that nothing says; left out where there is none',
    ),
  ),
  needApproval: Type.Optional(
    count(
      'those that would be rejected only because nobody was asked then for an approval that the document asks for; left out where there is none',
    ),
  ),
  approvedToRejected: count('decisions that would be rejected'),
  rejectedToApproved: count('decisions that would be approved'),
  refusedAsRetired: count('executions that were approved under a version that ends'),
  flips: Type.Array(
    closed({ ...flip, was: closed(flip.was.properties), wouldBe: closed(flip.wouldBe.properties) }),
    { description: 'a list of the newest of those that would be decided otherwise' },
  ),
  retired: Type.Array(closed(RefusedByRetirement.properties), {
    description: 'a list of the newest of those that would have been refused, because their version ends',
  }),
})
export type ImpactReport = Type.Static<typeof ImpactReport>
