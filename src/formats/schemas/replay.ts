// The replay result (interface §2.5), and the bodies of POST /verify, /receipt and /replay (§4.3).
import { Type } from 'typebox'
import { NonEmptyText, Uuid } from './primitives.ts'

export const ReplayResult = Type.Object({
  businessTransactionId: Uuid,
  trustRecordHash: Type.String({ description: 'the hash as it is stored, even if the record has changed' }),
  verified: Type.Boolean(),
})

export const RecordReference = Type.Object({ businessTransactionId: Uuid })

/** Only presence is checked. */
export const ReplayRequest = Type.Object({ businessTransactionId: NonEmptyText })
