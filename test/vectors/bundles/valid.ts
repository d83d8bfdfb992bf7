// Bundles that hold, and what a report notes of them.
import { NAMES_UNKNOWN } from '../approvals.ts'
import type { Cases } from '../case.ts'
import { type Members } from '../edit.ts'
import { time } from '../evidence.ts'
import { aChange } from '../governance-changes.ts'
import { humans } from '../keys.ts'
import type { SignedBy } from '../logs.ts'
import {
  DOCUMENT,
  FIRST,
  ADVICE,
  LOADED,
  type Part,
  SECOND,
  bundle,
  byPasskeys,
  confirmed,
  governed,
  plain,
  proven,
  requested,
  revokedAt,
  withChanges,
  zoe,
} from './plan.ts'

const AT = `The log "${FIRST}" had 15 entries at its checkpoint of 2026-11-21T01:01:00Z.`

/** As the log has what it got after the fact. */
const late = (part: Part): Part => ({ ...part, entry: part.entry.replace(/^(\S+ )/, '$1late-') })

const requestOf = (parts: readonly Part[]) => parts.find(({ kind }) => kind === 'approval-request')!

export function validBundles(all: Cases): void {
  all.addNoted(
    'valid-governed',
    'Policy and approvers were put into force by governance.',
    bundle(governed()),
    [ADVICE, AT],
  )
  all.addNoted(
    'valid-names-unknown',
    'Its decision is from before decisions said which approvers the caller and the principal are.',
    bundle(governed({ notCounted: null })),
    [NAMES_UNKNOWN, ADVICE, AT],
  )
  all.addNoted(
    'valid-plain',
    'The policy was loaded by the operator, and nobody had to approve.',
    bundle(plain()),
    [LOADED, `The log "${FIRST}" had 5 entries at its checkpoint of 2026-11-21T01:01:00Z.`],
  )
  all.add(
    'valid-hybrid',
    'Record and receipt are signed by both algorithms.',
    bundle(governed({ mode: 'hybrid' })),
  )
  all.addNoted('valid-no-receipt', 'Nothing was verified yet.', bundle(plain({ receipts: false })), [
    'The record carries no receipt.',
    'No entry of the log states the record: only a receipt does.',
    LOADED,
    `The log "${FIRST}" had 3 entries at its checkpoint of 2026-11-21T01:01:00Z.`,
  ])
  all.addNoted(
    'valid-requested',
    'The approvals are for a request that the log has before them.',
    bundle(requested()),
    [ADVICE, AT.replace('15', '17')],
  )
  const { parts: asked } = requested()
  all.addNoted(
    'valid-request-late',
    'The log has the request as a late entry, behind everything.',
    bundle({
      ...requested(),
      parts: [...asked.filter((one) => one.kind !== 'approval-request'), late(requestOf(asked))],
    }),
    [
      ADVICE,
      AT.replace('15', '17'),
      `The log has the approval request ${JSON.stringify(requestOf(asked).id)} as a late entry: its place does not show when it was made.`,
    ],
  )
  all.add('valid-passkeys', 'Two passkeys approved it, of P-256 and of Ed25519.', bundle(byPasskeys()))
  all.add('valid-confirmed', 'The provider said that it was executed.', bundle(confirmed()))
  all.addNoted(
    'valid-contradicted',
    'The provider said that it was not executed.',
    bundle(confirmed('not_executed')),
    [
      'The provider "razorpay" says not_executed, and the record says COMPLETED.',
      LOADED,
      `The log "${FIRST}" had 7 entries at its checkpoint of 2026-11-21T01:01:00Z.`,
    ],
  )
  const { parts, ...rest } = governed()
  const [policy, zoes, danas, approval, second, authorization, receipt] = parts as [
    Part,
    Part,
    Part,
    Part,
    Part,
    Part,
    Part,
  ]
  all.add(
    'valid-policy-after-approvals',
    'The approvals were given before the policy was put into force, and the execution was decided after it.',
    bundle({ ...rest, parts: [zoes, danas, second, approval, policy, authorization, receipt] }),
  )
  all.addNoted(
    'valid-late-change',
    'The log has a change as a late entry, at its end.',
    bundle({ ...rest, parts: [policy, danas, approval, second, authorization, receipt, late(zoes)] }),
    [
      ADVICE,
      AT,
      `The log has the governance change "${zoes.id}" as a late entry: its place does not show when it was made.`,
    ],
  )
  all.addNoted(
    'valid-late-receipt',
    'The log has the receipt as a late entry, before the authorization.',
    bundle({ ...rest, parts: [policy, zoes, danas, approval, second, late(receipt), authorization] }),
    [ADVICE, AT, 'The log has the receipt as a late entry: its place does not show when it was made.'],
  )
  all.add('valid-two-logs', 'The changes are in the log that was closed, all else in its successor.', {
    ...bundle(governed({ log: SECOND })),
    proofs: twoLogs(governed({ log: SECOND }).parts),
  })
  all.add(
    'valid-promised-to-earlier',
    'The receipt was promised to the log before, and its successor holds it.',
    bundle(governed(), proven(governed().parts, SECOND)),
  )
  const byZoe = aChange('APPROVED', zoe, { kind: 'policy', target: 'sandbox-echo/1.0.0', proposed: DOCUMENT })
  all.addNoted(
    'valid-step-up-unchecked',
    'The key of the checker is not given, and the report says so.',
    bundle(withChanges(plain(), [byZoe])),
    [
      'The signature of the step-up authorization was not checked: no key "zoe:step-up" is given.',
      ADVICE,
      `The log "${FIRST}" had 7 entries at its checkpoint of 2026-11-21T01:01:00Z.`,
    ],
  )
  const replacing = aChange('APPROVED', humans.aliceStepUp, {
    kind: 'policy',
    target: 'sandbox-echo/1.0.0',
    proposed: { ...DOCUMENT, retires: ['0.9.0'] },
  })
  all.addNoted(
    'valid-policy-replaces',
    'The change that put the policy into force ended another version of it.',
    bundle(withChanges(plain(), [replacing])),
    [ADVICE, `The log "${FIRST}" had 7 entries at its checkpoint of 2026-11-21T01:01:00Z.`],
  )
  unsigned(all)
  all.add(
    'valid-revoked-later',
    'A key of an approver was revoked after the decision.',
    revokedAt(bundle(governed()), time(12)),
  )
}

/** Adds members that no signature covers, which must be known at every level. */
function unsigned(all: Cases): void {
  const bundles = { plain: bundle(plain()), governed: bundle(governed()) }
  for (const [of, path] of [
    ['plain', 'approvedBy'],
    ['plain', 'events'],
    ['plain', 'record.comment'],
    ['plain', 'proofs.1.note'],
    ['governed', 'approverKeys.0.name'],
    ['governed', 'approverKeys.0.jwk.name'],
    ['governed', 'changes.0.signature.signedBy'],
  ] as const)
    all.addUnsigned(path, `Nothing signs its member ${path}.`, bundles[of], path)
}

const isChange = ({ kind }: Part) => kind === 'change'

/** The changes in the first log, the rest in the second. */
function twoLogs(parts: readonly Part[], by?: SignedBy): Members[] {
  return [
    ...proven(parts.filter(isChange), FIRST, by),
    ...proven(
      parts.filter((part) => !isChange(part)),
      SECOND,
    ),
  ]
}
