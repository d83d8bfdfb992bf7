// Ids that were executed before: 409, and nothing is stored or signed (interface §7 "Idempotency").
import { executions, storedRecords, type Scenario } from '../scenario.ts'

export const duplicates: Scenario = {
  name: 'duplicates',
  description: 'POST /execute with an id that is stored already: a 409',
  connections: [1, 64],
  async setUp(setting) {
    const { body = '', ...kind } = executions(setting.subject.transaction)
    return {
      kinds: [
        {
          ...kind,
          name: 'duplicate',
          body: body.replaceAll('{{0}}', '{{stored}}'),
          status: 409,
          stores: {},
          evidence: 'trust-record',
        },
      ],
      stored: await storedRecords(setting),
    }
  },
}
