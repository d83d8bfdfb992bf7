// The bundles of the published vectors are made of these: records under a policy, what put it into force, and the log that holds them.
import { anApproval, PARAMETERS } from '../approvals.ts'
import { at, membersAt, put, type Json, type Members } from '../edit.ts'
import {
  aReceipt,
  aRecordBody,
  aVerification,
  CALLER,
  promised,
  reauthorized,
  receiptOf,
  seal,
} from '../evidence.ts'
import { aChange } from '../governance-changes.ts'
import { aConfirmation } from '../provider-confirmations.ts'
import { asked } from '../trust-records/requested.ts'
import { canonical, humans, modes, publicKeyJson, sha256, unpublished, type Key } from '../keys.ts'
import { aLog, describedLog, type SignedBy } from '../logs.ts'
import { asserted, passkeyJson, passkeys, rawKeyOf, type Otherwise } from '../passkeys.ts'

/** The checks that rest on the checkpoint. */
export const CHECKPOINT = 'log checkpoint'
export const PROOFS = 'log proofs'
export const ORDER = 'log order'
export const LOG = [CHECKPOINT, PROOFS, ORDER]

export const ADVICE =
  'Nothing signs the warnings and the diff of a change: they are advice of when it was proposed.'
export const LOADED =
  'It holds no governance change that put policy "sandbox-echo" version "1.0.0" into force: the operator of the service did when it was first started, or the change was left out.'

const NAME = 'countersign.example.com'
export const FIRST = `${NAME}/log/1`
export const SECOND = `${NAME}/log/2`

/** The reader saved this: GET /.well-known/countersign-log. */
export const description: Members = { logs: [describedLog(FIRST), describedLog(SECOND)] }

export const DOCUMENT: Members = {
  policyId: 'sandbox-echo',
  policyVersion: '1.0.0',
  schemaVersion: '1.0.0',
  rules: [
    { id: 'approved', when: 'signals.humanApproved', outcome: 'APPROVED', reason: 'A human approved it.' },
  ],
}
export const POLICY_TEXT = canonical(DOCUMENT)

/** A key that no reader has but from the bundle. */
export const zoe = unpublished.human
export const zoesChange = enrolment(zoe)
export const danasChange = enrolment(humans.dana)
export const policyChange = aChange('APPROVED', humans.aliceStepUp, {
  kind: 'policy',
  target: 'sandbox-echo/1.0.0',
  proposed: DOCUMENT,
})

export function enrolment(key: Key, proposed: Members = {}): Members {
  const [approverId = '', keyId = ''] = key.keyId.split(':')
  const publicKeyPem = publicKeyJson(key)['pem'] as Json
  return aChange('APPROVED', humans.aliceStepUp, {
    kind: 'approver',
    target: key.keyId,
    proposed: { action: 'add', approverId, keyId, publicKeyPem, ...proposed },
  })
}

interface Told {
  readonly approvals: readonly Members[]
  /** The approvals are for this request; left out: they are for none. */
  readonly request?: Members
  readonly mode?: keyof typeof modes
  readonly name?: string
  readonly log?: string
  readonly receipts?: boolean
  /** The decision has this member; null: it is from before decisions had it. */
  readonly notCounted?: readonly string[] | null
  /** The policy document in place of the one of the others. */
  readonly policy?: string
  /** The decision's verified signals, in place of `humanApproved` from the approvals. The transaction then leaves that signal out. */
  readonly verifiedSignals?: Members
}

/** A record under the policy, with these approvals, and its receipt. */
function aRecord({
  approvals,
  request,
  mode = 'ed25519',
  name = 'bundled',
  log = FIRST,
  receipts = true,
  notCounted = [],
  policy = POLICY_TEXT,
  verifiedSignals,
}: Told): Members {
  const signers = modes[mode]
  const signals = verifiedSignals === undefined ? { humanApproved: true, amount: 42 } : { amount: 42 }
  const made = aRecordBody({ name, parameters: PARAMETERS, signals }, signers)
  const of = request === undefined ? {} : { request }
  const names = notCounted === null ? {} : { notCounted: [...notCounted] }
  const verified = verifiedSignals ?? {
    humanApproved: { value: true, by: 'approval', approvals: [...approvals], ...of, ...names },
  }
  const edits: [path: string, value: Json][] = [
    ['transaction.authority.principalId', 'treasury'],
    ['authorization.payload.policyContentHash', sha256(policy)],
    ['executions.0.decision.policyContentHash', sha256(policy)],
    ...(approvals.length === 0
      ? []
      : [['executions.0.decision.verifiedSignals', verified] as [string, Json]]),
  ]
  const body = reauthorized(edits.reduce((edited, [path, value]) => put(edited, path, value), made))
  const record = seal(body, signers)
  const verification = aVerification(record)
  const receipt = aReceipt(put(promised(receiptOf(record, verification)), 'transparency.log', log), signers)
  return { ...record, verifications: [verification], receipts: receipts ? [receipt] : [] }
}

/** Something that the log holds: its entry, and how the bundle names its proof. */
export interface Part {
  readonly kind: 'authorization' | 'receipt' | 'approval-request' | 'approval' | 'change' | 'confirmation'
  readonly id: string
  readonly entry: string
}

export const entryOf = (kind: string, hash: string) => `countersign/1 ${kind} ${hash}`
/** The log holds these of others, with numbers in streams. */
export const filler = (i: number) =>
  `${entryOf('receipt', sha256(`filler ${i}`))} caller=${sha256('caller').slice(0, 16)}:${i + 1}`

const streams = (n: number) => ` caller=${sha256(CALLER).slice(0, 16)}:${n}`

function partsOf(record: Members): { authorization: Part; receipt?: Part } {
  const id = record['businessTransactionId'] as string
  const payload = canonical(at(record, 'authorization.payload'))
  const receipts = record['receipts'] as Members[]
  const receipt = receipts.at(-1)
  return {
    authorization: {
      kind: 'authorization',
      id,
      entry: entryOf('authorization', sha256(payload)) + streams(7),
    },
    ...(receipt === undefined
      ? {}
      : {
          receipt: {
            kind: 'receipt',
            id,
            entry: entryOf('receipt', receipt['receiptHash'] as string) + streams(8),
          },
        }),
  }
}

function approvalPart(approval: Members): Part {
  const payload = membersAt(approval, 'payload')
  return {
    kind: 'approval',
    id: payload['approvalId'] as string,
    entry: entryOf('approval', sha256(canonical(payload))),
  }
}

function changePart(one: Members): Part {
  const { signature: _, warnings: _1, diff: _2, ...body } = one
  return {
    kind: 'change',
    id: one['changeId'] as string,
    entry: entryOf('governance-change', sha256(canonical(body))),
  }
}

/** Everything of a bundle before its log is made. */
export interface Plan {
  readonly record: Members
  /** Left out: that of the others. */
  readonly policy?: string
  readonly changes: readonly Members[]
  readonly approverKeys: readonly Members[]
  /** In the order of the log, without what others have in it. */
  readonly parts: readonly Part[]
}

/** Two approvals by keys that governance enrolled, under a policy that governance put into force. */
export function governed(told: Partial<Told> = {}): Plan {
  return governedBy([anApproval(zoe), anApproval(humans.dana)], told)
}

/** Two approvals by passkeys that governance enrolled, one of each algorithm. */
export function byPasskeys(how: Otherwise = {}): Plan {
  const owners = [passkeys.dana, passkeys.erik]
  const approvals = owners.map((owner) => {
    const { payload } = anApproval(rawKeyOf(owner)) as { payload: Members }
    return { payload, ...asserted('approval', canonical(payload), owner, how) }
  })
  const approverKeys = owners.map(passkeyJson)
  const enrolments = owners.map((owner, i) => {
    const { pem = '', passkey = {} } = approverKeys[i] ?? {}
    return enrolment(rawKeyOf(owner), {
      publicKeyPem: pem,
      passkey: { ...(passkey as Members), credentialId: owner.keyId },
    })
  })
  return governedBy(approvals, {}, { approverKeys, enrolments })
}

export function governedBy(
  approvals: readonly Members[],
  told: Partial<Told> = {},
  {
    approverKeys = [zoe, humans.dana].map(publicKeyJson),
    enrolments = [zoesChange, danasChange],
  }: Partial<Readonly<Record<'approverKeys' | 'enrolments', Members[]>>> = {},
): Plan {
  const record = aRecord({ approvals, ...told })
  const { authorization, receipt } = partsOf(record)
  const changes = [policyChange, ...enrolments]
  return {
    record,
    ...(told.policy === undefined ? {} : { policy: told.policy }),
    changes,
    approverKeys,
    parts: [
      ...changes.map(changePart),
      ...approvals.map(approvalPart),
      authorization,
      ...(receipt === undefined ? [] : [receipt]),
    ],
  }
}

/** Two humans are asked this. */
const request: Members = {
  ...asked,
  policy: { name: 'sandbox-echo', version: '1.0.0', contentHash: sha256(POLICY_TEXT) },
  quorum: 2,
}

const requestPart: Part = {
  kind: 'approval-request',
  id: request['requestId'] as string,
  entry: entryOf('approval-request', sha256(canonical(request))) + streams(6),
}

/** As `governed`, and the approvals are for a request, which the log has before them. */
export function requested(): Plan {
  const of = { version: 2, requestHash: sha256(canonical(request)) }
  const plan = governedBy([anApproval(zoe, of), anApproval(humans.dana, of)], { request })
  return withPart(plan, requestPart, ({ kind }) => kind === 'approval')
}

/** The plan with the part before the first one that is so. */
export function withPart(plan: Plan, part: Part, isBefore: (one: Part) => boolean): Plan {
  const others = plan.parts.filter(({ kind }) => kind !== part.kind)
  const i = others.findIndex(isBefore)
  return { ...plan, parts: [...others.slice(0, i), part, ...others.slice(i)] }
}

/** Nothing is approved by a human, and the policy was loaded at the first start. */
export function plain(told: Partial<Told> = {}): Plan {
  const record = aRecord({ approvals: [], name: 'bundled plain', ...told })
  const { authorization, receipt } = partsOf(record)
  return {
    record,
    changes: [],
    approverKeys: [],
    parts: [authorization, ...(receipt === undefined ? [] : [receipt])],
  }
}

/** As `plain`, and the provider said that it was executed. */
export function confirmed(says = 'executed'): Plan {
  const unconfirmed = plain()
  const id = unconfirmed.record['businessTransactionId'] as string
  const one = aConfirmation({ businessTransactionId: id, says })
  const part: Part = {
    kind: 'confirmation',
    id: at(one, 'confirmation.confirmationId') as string,
    entry: entryOf('provider-confirmation', sha256(canonical(at(one, 'confirmation')))) + streams(9),
  }
  return {
    ...unconfirmed,
    record: { ...unconfirmed.record, confirmations: [one] },
    parts: [...unconfirmed.parts, part],
  }
}

/** The parts as entries of a log among others: one before, between and behind each. */
export function proven(parts: readonly Part[], origin = FIRST, by?: SignedBy): Members[] {
  const entries = parts.flatMap(({ entry }, i) => [filler(i), entry])
  const log = aLog(origin, [...entries, entryOf('heads', sha256('heads'))], by)
  return parts.map(({ kind, id }, i) => ({ kind, id, proof: log.proof(2 * i + 1) }))
}

export function bundle(
  { record, policy = POLICY_TEXT, changes, approverKeys, parts }: Plan,
  proofs: Members[] = proven(parts),
): Members {
  return {
    bundle: 'countersign/1',
    record,
    policy,
    approverKeys: [...approverKeys],
    changes: [...changes],
    proofs,
  }
}

/** The plan with these changes in place of its own, each before everything else in the log. */
export function withChanges(plan: Plan, changes: readonly Members[]): Plan {
  const others = plan.parts.filter(({ kind }) => kind !== 'change')
  return { ...plan, changes, parts: [...changes.map(changePart), ...others] }
}

export const revokedAt = (one: Members, when: string) => put(one, 'approverKeys.0.revokedAt', when)

/** The text with a line replaced by a hash that is not the tree's. */
export function spoiledLine(proof: string, line: number): string {
  const lines = proof.split('\n')
  lines[line] = Buffer.from(sha256('another'), 'hex').toString('base64')
  return lines.join('\n')
}
