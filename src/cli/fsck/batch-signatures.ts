// batch_signatures: whether one holds is found by each record and receipt under it. Here: that it is a signature at all.
import { tableCheck } from './check.ts'

interface Row {
  readonly key: string
  readonly bytes: number
}

export const batchSignatures = tableCheck<Row>({
  table: 'batch_signatures',
  text: `SELECT b.batch AS key, octet_length(b.value) AS bytes FROM $table AS b`,
  // FIPS 204 §4, Table 2.
  rules: [['is not 3,309 bytes long', ({ bytes }) => bytes === 3309]],
})
