// Valid Execution Trust Records: what every verifier must accept.
import type { Cases } from '../case.ts'
import { at, membersAt, put, type Json, type Members } from '../edit.ts'
import {
  aReceipt,
  aRecord,
  aRecordBody,
  authorize,
  aVerification,
  receiptOf,
  receipted,
  seal,
} from '../evidence.ts'
import { keys, modes, type Mode, revokedKey } from '../keys.ts'
import { addRevoked } from '../revoked.ts'

/** Known difficulties of canonical JSON. Numbers are doubles: order, escapes and notation are RFC 8785's. */
export const EDGES: Members = {
  amount: 42,
  numbers: [
    0.1, 1e21, 1e20, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 333333333.3333333, -1, 4.5, 9007199254740991,
  ],
  zero: 0,
  'ﬁ sorts after 😀 by UTF-16, before it by code point': 1,
  '😀 sorts before ﬁ': 2,
  '\u20ac': 'Euro Sign',
  '\r': 'Carriage Return',
  '1': 'One',
  '\n"\\': '\b\f\n\r\t\u0001\u007f\u2028 \u00e9 e\u0301 / <b>',
  '': 'the empty key',
  constructor: { toString: 'no member of JavaScript' },
  empty: [true, null, [], {}, ''],
}

export function validRecords(all: Cases): void {
  for (const mode of Object.keys(modes) as Mode[]) {
    const signers = modes[mode]
    all.add(
      `valid-${mode}`,
      `A record as the server answers it, ${mode}.`,
      aRecord({ name: 'first' }, signers),
    )
    all.add(
      `valid-${mode}-failed`,
      `The connector failed for certain, ${mode}.`,
      aRecord({ name: 'failed', failed: true }, signers),
    )
    all.add(
      `valid-${mode}-edges`,
      `Parameters of every kind that JSON has, ${mode}.`,
      aRecord({ name: 'edges', parameters: EDGES }, signers),
    )
  }
  const signers = modes.ed25519
  const record = aRecord({ name: 'first' }, signers)
  const body = aRecordBody({ name: 'first' }, signers)
  all.add(
    'valid-hybrid-ml-dsa-65-first',
    'A hybrid record whose first algorithm is ML-DSA-65.',
    aRecord({ name: 'first' }, [keys.mlDsa65, keys.ed25519]),
  )
  all.add(
    'valid-minimal',
    'Without every member that a caller may leave out.',
    aRecord({ name: 'minimal', minimal: true, parameters: {}, signals: {} }, signers),
  )
  all.add(
    'valid-rotated-keys',
    'Signed by keys that were rotated out and are still published.',
    aRecord({ name: 'first' }, [keys.oldEd25519]),
  )
  const authorization = authorize(membersAt(body, 'authorization.payload'), keys.oldEd25519)
  all.add(
    'valid-rotated-between',
    'The key was rotated between authorization and record.',
    receipted(seal({ ...body, authorization }, signers), signers),
  )
  all.add(
    'valid-receipt-by-new-key',
    'The receipt was issued after a rotation, by another algorithm too.',
    receipted(seal(body, [keys.oldEd25519]), modes.hybrid),
  )
  all.add('valid-not-yet-verified', 'Nothing was appended to it yet.', {
    ...seal(body, signers),
    verifications: [],
    receipts: [],
  })
  const failed = aVerification(record, 'FAILED')
  all.add('valid-verified-twice', 'A failed verification stands before the one that the receipts name.', {
    ...record,
    verifications: [failed, at(record, 'verifications.0')],
    receipts: [
      at(record, 'receipts.0'),
      aReceipt(
        { ...receiptOf(record, membersAt(record, 'verifications.0')), issuedAt: '2026-11-22T00:00:00.000Z' },
        signers,
      ),
    ],
  })
  all.add(
    'valid-signed-at',
    'signature.signedAt is informative and not proven: a change of it is not seen.',
    put(record, 'signature.signedAt', '1999-01-01T00:00:00.000Z'),
  )
  all.add(
    'valid-verified-at',
    "A verification's time is not signed: a change of it is not seen.",
    put(record, 'verifications.0.verifiedAt', '1999-01-01T00:00:00.000Z'),
  )
  revoked(all)
  all.add('valid-reversed-members', 'The order of members means nothing.', reversed(record))
}

function revoked(all: Cases): void {
  const body = aRecordBody({ name: 'first' }, modes.ed25519)
  addRevoked(
    all,
    { signedAs: 'trust-record', time: 'createdAt' },
    (when) => receipted(seal({ ...body, createdAt: when }, [revokedKey]), modes.ed25519),
    ['record signature'],
  )
  addRevoked(
    all,
    { signedAs: 'execution-authorization', time: 'authorizedAt', prefix: 'authorization-' },
    (when) => {
      const payload = { ...membersAt(body, 'authorization.payload'), authorizedAt: when }
      return receipted(
        seal({ ...body, authorization: authorize(payload, revokedKey) }, modes.ed25519),
        modes.ed25519,
      )
    },
    ['authorization signature'],
  )
  const record = seal(body, modes.ed25519)
  const verification = aVerification(record)
  addRevoked(
    all,
    { signedAs: 'receipt', time: 'issuedAt', prefix: 'receipt-' },
    (when) => ({
      ...record,
      verifications: [verification],
      receipts: [aReceipt({ ...receiptOf(record, verification), issuedAt: when }, [revokedKey])],
    }),
    ['receipts'],
  )
}

function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  )
}
