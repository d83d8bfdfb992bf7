// batch_signatures: each record and receipt under a signature shows whether it is valid. Checked here: it is a signature at all.
import { checkOf } from './check.ts'

export const batchSignatures = checkOf({
  table: 'batch_signatures',
  columns: { key: ['text', 'c.batch'], bytes: ['integer', 'octet_length(c.value)'] },
  // FIPS 204 §4, Table 2.
  rules: [['is not 3,309 bytes long', ({ bytes }) => bytes === 3309]],
})
