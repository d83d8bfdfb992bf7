// Several files at once, and the summary that every verifier gives of them: in members, and in lines for people.
import type { Summary } from '../../src/formats/verifier/summary.ts'
import { approvedBy } from './approvals.ts'
import { put, type Json } from './edit.ts'
import { aReceipt, aRecord, aVerification, anEvent, receiptOf, signEvent, time } from './evidence.ts'
import { aChange } from './governance-changes.ts'
import { keys, modes, unpublished } from './keys.ts'
import { passkeys, type PasskeyOwner } from './passkeys.ts'
import { byPasskey } from './trust-records/passkeys.ts'

export interface SummaryCase {
  readonly id: string
  readonly what: string
  readonly sources: readonly { readonly name: string; readonly text: string }[]
  readonly exitCode: 0 | 1 | 2
  readonly summary: Summary
  readonly lines: readonly string[]
}

const counts = (valid: number, invalid = 0, unchecked = 0) => ({ valid, invalid, unchecked })
const none = { missingKeys: [], missingLogs: [], missingStepUpKeys: [], countersWentBack: [], cutShort: [] }
const end = (kind: string, count: number) =>
  JSON.stringify({ exportEnd: { kind, callerId: null, count, since: null, until: null } })
const lines = (...values: readonly (Json | string)[]) =>
  values.map((value) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`).join('')

/** All that they hold is valid. */
const CUT_SHORT = (record: Json) => [
  { id: 'cut', what: 'An export without its last line.', text: lines(record, record), valid: 2 },
  {
    id: 'cut-after-one',
    what: 'An export that was cut after its first line: only its name says that it is one.',
    text: lines(record),
    valid: 1,
  },
  {
    id: 'miscounted',
    what: 'An export whose last line counts one more.',
    text: lines(record, record, end('trust-record', 3)),
    valid: 2,
  },
  {
    id: 'behind-the-end',
    what: 'A line behind the end of an export.',
    text: lines(record, end('trust-record', 1), record),
    valid: 2,
  },
]

export function summaryCases(): SummaryCase[] {
  const record: Json = aRecord({ name: 'first' }, modes.ed25519)
  const changed = put(record, 'createdAt', 'x')
  const unknown = put(record, 'receipts', [
    aReceipt(receiptOf(record, aVerification(record)), [unpublished.ed25519]),
  ])
  const event: Json = signEvent(anEvent(), keys.ed25519)
  const missing = unpublished.ed25519.keyId
  const approved: Json = aChange('APPROVED', unpublished.human)
  const rejected: Json = aChange('REJECTED', { ...unpublished.human, keyId: 'yan:step-up' })
  const humansMissing = [approved, rejected].map((change) => `${change['resolvedBy'] as string}:step-up`)
  return [
    {
      id: 'summary/mixed',
      what: 'A record, a page of events, and an export of records: all valid.',
      sources: [
        { name: 'record.json', text: JSON.stringify(record, null, 2) },
        { name: 'events.json', text: JSON.stringify({ events: [event, event] }) },
        { name: 'export.ndjson', text: lines(record, record, end('trust-record', 2)) },
      ],
      exitCode: 0,
      summary: {
        files: 3,
        pieces: 5,
        ...counts(5),
        kinds: { 'trust-record': counts(3), 'audit-event': counts(2) },
        ...none,
      },
      lines: [
        '5 pieces of evidence in 3 files: 5 valid, 0 INVALID, 0 cannot be checked',
        '  trust-record: 3 valid, 0 INVALID, 0 cannot be checked',
        '  audit-event: 2 valid, 0 INVALID, 0 cannot be checked',
      ],
    },
    {
      id: 'summary/invalid-decides',
      what: 'One is invalid and one lacks a key: the failure decides, and both are counted.',
      sources: [{ name: 'export.ndjson', text: lines(changed, unknown, record, end('trust-record', 3)) }],
      exitCode: 1,
      summary: {
        files: 1,
        pieces: 3,
        ...counts(1, 1, 1),
        kinds: { 'trust-record': counts(1, 1, 1) },
        ...none,
        missingKeys: [missing],
      },
      lines: [
        '3 pieces of evidence in 1 file: 1 valid, 1 INVALID, 1 cannot be checked',
        '  trust-record: 1 valid, 1 INVALID, 1 cannot be checked',
        `Keys that are not given: ${missing}. Those of approvers are at GET /.well-known/approver-keys.json of the service, any at GET /keys/{keyId}.`,
      ],
    },
    {
      id: 'summary/step-ups',
      what: 'Changes that two humans resolved whose keys are not given: all are valid, and the summary names whose step-ups were not checked.',
      sources: [
        {
          name: 'changes.json',
          text: JSON.stringify({ changes: [approved, rejected, approved] }),
        },
      ],
      exitCode: 0,
      summary: {
        files: 1,
        pieces: 3,
        ...counts(3),
        kinds: { 'governance-change': counts(3) },
        ...none,
        missingStepUpKeys: humansMissing,
      },
      lines: [
        '3 pieces of evidence in 1 file: 3 valid, 0 INVALID, 0 cannot be checked',
        '  governance-change: 3 valid, 0 INVALID, 0 cannot be checked',
        'Step-up signatures that were not checked, because the keys of these humans are not given: ' +
          `${humansMissing.join(', ')}. Everything else about their changes was.`,
      ],
    },
    ...counterCases(),
    {
      id: 'summary/garbage',
      what: 'A file that is no evidence hides no other.',
      sources: [
        { name: 'garbage.json', text: 'garbage' },
        { name: 'record.json', text: JSON.stringify(record) },
      ],
      exitCode: 2,
      summary: {
        files: 2,
        pieces: 2,
        ...counts(1, 0, 1),
        kinds: { unknown: counts(0, 0, 1), 'trust-record': counts(1) },
        ...none,
      },
      lines: [
        '2 pieces of evidence in 2 files: 1 valid, 0 INVALID, 1 cannot be checked',
        '  unknown: 0 valid, 0 INVALID, 1 cannot be checked',
        '  trust-record: 1 valid, 0 INVALID, 0 cannot be checked',
      ],
    },
    ...CUT_SHORT(record).map(({ id, what, text, valid }): SummaryCase => {
      const said = `${valid} valid, 0 INVALID, 0 cannot be checked`
      return {
        id: `summary/${id}`,
        what,
        sources: [{ name: 'hostile\u001b[2J.ndjson', text }],
        exitCode: 2,
        summary: {
          files: 1,
          pieces: valid,
          ...counts(valid),
          kinds: { 'trust-record': counts(valid) },
          ...none,
          cutShort: ['hostile\u001b[2J.ndjson'],
        },
        lines: [
          `${valid} ${valid === 1 ? 'piece' : 'pieces'} of evidence in 1 file: ${said}`,
          `  trust-record: ${said}`,
          'Without the last line of a whole export: hostile\ufffd[2J.ndjson. Something may be missing.',
        ],
      }
    }),
    {
      id: 'summary/empty',
      what: 'An export of nothing: it is whole, and nothing was checked.',
      sources: [{ name: 'nothing.json', text: lines(end('trust-record', 0)) }],
      exitCode: 2,
      summary: { files: 1, pieces: 0, ...counts(0), kinds: {}, ...none },
      lines: ['0 pieces of evidence in 1 file: 0 valid, 0 INVALID, 0 cannot be checked'],
    },
    {
      id: 'summary/end-with-more',
      what: 'The last line of an export holds a member that the service does not write there.',
      sources: [
        {
          name: 'all.ndjson',
          text: lines(record, { exportEnd: { kind: 'trust-record', count: 1, record: changed } }),
        },
      ],
      exitCode: 2,
      summary: {
        files: 1,
        pieces: 2,
        ...counts(1, 0, 1),
        kinds: { 'trust-record': counts(1), unknown: counts(0, 0, 1) },
        ...none,
        cutShort: ['all.ndjson'],
      },
      lines: [
        '2 pieces of evidence in 1 file: 1 valid, 0 INVALID, 1 cannot be checked',
        '  trust-record: 1 valid, 0 INVALID, 0 cannot be checked',
        '  unknown: 0 valid, 0 INVALID, 1 cannot be checked',
        'Without the last line of a whole export: all.ndjson. Something may be missing.',
      ],
    },
    {
      id: 'summary/two-exports',
      what: 'Two exports in one file, each whole, with blank lines; one line is garbage.',
      sources: [
        {
          name: 'all.ndjson',
          text: lines(record, end('trust-record', 1), '', '{"x":', event, end('audit-event', 2)),
        },
      ],
      exitCode: 2,
      summary: {
        files: 1,
        pieces: 3,
        ...counts(2, 0, 1),
        kinds: { 'trust-record': counts(1), unknown: counts(0, 0, 1), 'audit-event': counts(1) },
        ...none,
      },
      lines: [
        '3 pieces of evidence in 1 file: 2 valid, 0 INVALID, 1 cannot be checked',
        '  trust-record: 1 valid, 0 INVALID, 0 cannot be checked',
        '  unknown: 0 valid, 0 INVALID, 1 cannot be checked',
        '  audit-event: 1 valid, 0 INVALID, 0 cannot be checked',
      ],
    },
  ]
}

/** Records that passkeys approved, by the seconds and the counters at which each signed. */
const COUNTED: readonly (readonly [
  id: string,
  what: string,
  uses: readonly (readonly [owner: PasskeyOwner, secondsBefore: number, counter: number])[],
  wentBack: readonly string[],
])[] = [
  [
    'grow',
    'The counter of a passkey grows with each approval.',
    [
      [passkeys.dana, 60, 7],
      [passkeys.dana, 50, 8],
    ],
    [],
  ],
  [
    'repeated',
    'One approval stands in two files.',
    [
      [passkeys.dana, 60, 7],
      [passkeys.dana, 60, 7],
    ],
    [],
  ],
  [
    'never',
    'A passkey that does not count.',
    [
      [passkeys.dana, 60, 0],
      [passkeys.dana, 50, 0],
    ],
    [],
  ],
  [
    'other-order',
    'The later approval is read first.',
    [
      [passkeys.dana, 50, 8],
      [passkeys.dana, 60, 7],
    ],
    [],
  ],
  [
    'of-two',
    'Two passkeys have counters of their own.',
    [
      [passkeys.dana, 60, 9],
      [passkeys.erik, 50, 7],
    ],
    [],
  ],
  [
    'back',
    'A later approval has a lower counter.',
    [
      [passkeys.dana, 60, 9],
      [passkeys.dana, 50, 7],
    ],
    ['dana'],
  ],
  [
    'same',
    'A later approval has the same counter.',
    [
      [passkeys.erik, 60, 7],
      [passkeys.erik, 50, 7],
    ],
    ['erik'],
  ],
  [
    'to-zero',
    'A passkey stops counting.',
    [
      [passkeys.dana, 60, 7],
      [passkeys.dana, 50, 0],
    ],
    ['dana'],
  ],
  [
    'back-in-other-order',
    'The approval with the lower counter is read first, and that of another passkey between.',
    [
      [passkeys.dana, 40, 8],
      [passkeys.erik, 50, 7],
      [passkeys.dana, 50, 9],
    ],
    ['dana'],
  ],
]

function counterCases(): SummaryCase[] {
  return COUNTED.map(([id, what, uses, wentBack]) => {
    const records = uses.map(([owner, seconds, signCount]) =>
      approvedBy([byPasskey(owner, { signCount }, { issuedAt: time(-1_000 * seconds) })]),
    )
    const countersWentBack = wentBack.map((name) => `${name}:passkey`)
    const said = `${records.length} valid, 0 INVALID, 0 cannot be checked`
    return {
      id: `summary/counters-${id}`,
      what,
      sources: records.map((record, i) => ({ name: `${i}.json`, text: JSON.stringify(record) })),
      exitCode: 0,
      summary: {
        files: records.length,
        pieces: records.length,
        ...counts(records.length),
        kinds: { 'trust-record': counts(records.length) },
        ...none,
        countersWentBack,
      },
      lines: [
        `${records.length} pieces of evidence in ${records.length} files: ${said}`,
        `  trust-record: ${said}`,
        ...countersWentBack.map(
          (keyId) =>
            `Passkeys whose signature counter does not grow with the time of signing: ${keyId}. A copy of each may have signed; what they signed is valid all the same.`,
        ),
      ],
    }
  })
}
