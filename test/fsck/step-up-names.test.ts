// countersign fsck on an execution in doubt that a human has closed: their step-up states a name that a key for approvals has too.
import { expect, test } from 'vitest'
import { aHuman, anApprover, aResolutionStepUp, enrolled } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import type { TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'
import { checked } from './mix.ts'

const [olive, bob] = [aHuman('olive'), aHuman('bob')]
let database: TestDatabase
let service: TestService
withService(
  (made) => {
    ;({ database, service } = made)
  },
  { callers: [olive.entry, bob.entry] },
)

test('the name in a step-up does not choose the key for approvals', async () => {
  await enrolled(service, { maker: olive, checker: bob }, anApprover('olive', 'laptop'))
  const transaction = aTransaction()
  const { businessTransactionId } = transaction
  expect((await service.post('/execute', transaction)).status).toBe(200)
  await putInDoubt(database, businessTransactionId, 'lost')
  const { body: intent } = await service.get(`/execution-intents/${businessTransactionId}`)
  const { businessTransactionHash } = intent.authorization.payload
  const said = { resolution: 'NOT_EXECUTED', note: 'The bank has no transfer.' }
  const stepUp = aResolutionStepUp(olive, { businessTransactionId, businessTransactionHash, ...said })
  const body = { ...said, stepUpAuthorization: { ...stepUp, keyId: 'laptop' } }
  const closed = await service.post(`/execution-intents/${businessTransactionId}/resolve`, body, olive)
  expect(closed.status, closed.text).toBe(200)
  expect((await checked(database, service.signingKeyDir)).lines).toEqual([])
})
