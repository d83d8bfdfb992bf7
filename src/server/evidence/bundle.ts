// The bundle of a record: one file with everything that a full check of an execution needs beside a saved key set and log description.
import type { Static } from 'typebox'
import { readableOwner, type Caller } from '../../formats/people/caller.ts'
import { failures, type Failure } from '../../core/errors/errors.ts'
import { isEntryOf, parseEntry } from '../../formats/log/entry.ts'
import type { EvidenceBundle } from '../../formats/schemas/evidence-bundle.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { changeText, trustRecordText } from '../../store/tables/sealed.ts'
import { approverKeyId, approverKeyJson } from '../../core/signing/approver-keys.ts'
import { approverOf } from '../../store/tables/approvers.ts'
import { findAuthority } from '../../store/tables/authority.ts'
import { readChanges } from '../../store/tables/pending-changes.ts'
import { readPolicyVersion } from '../../store/tables/policy-versions.ts'
import { readWholeRecord } from '../../store/tables/provider-confirmations.ts'
import { proofText, type ArtifactName, type Proven } from './log-proofs.ts'
import type { Logs } from '../service.ts'

/** The parts of a stored record that name the other parts of its bundle. */
interface Read {
  readonly authorization: {
    readonly payload: {
      readonly policyName: string
      readonly policyVersion: string
      readonly policyContentHash: string
    }
  }
  readonly executions: readonly {
    readonly decision: {
      readonly verifiedSignals: Readonly<Record<string, VerifiedSignal>>
    }
  }[]
  readonly receipts: readonly { readonly receiptHash: string }[]
  readonly confirmations?: readonly { readonly confirmation: { readonly confirmationId: string } }[]
}

interface VerifiedSignal {
  readonly approvals?: readonly Approval[]
  readonly groups?: readonly { readonly changeId: string; readonly standInChangeId?: string }[]
  readonly request?: { readonly requestId: string }
}

interface Approval {
  readonly payload: { readonly approvalId: string; readonly approverId: string; readonly keyId: string }
}

/**
 * @param given.waitMs how long to wait for a checkpoint over all parts
 * @returns the bundle's text; undefined while no checkpoint covers one of its parts
 */
export async function readBundle(
  id: string,
  { caller, waitMs }: { readonly caller: Caller | undefined; readonly waitMs: number },
  { pool, logProofs }: Pick<Logs, 'pool' | 'logProofs'>,
): Promise<string | undefined | Failure> {
  const stored = isUuid(id) ? await readWholeRecord(pool, id, readableOwner(caller)) : null
  if (stored === null) return failures.trustRecordNotFound()
  const recordText = trustRecordText(stored)
  const record = JSON.parse(recordText) as Read
  const approvals = approvalsOf(record)
  const [policy, approvers] = await Promise.all([
    policyOf(record, pool),
    findAuthority(
      pool,
      'approver',
      approvals.map(({ payload }) => approverKeyId(payload)),
    ),
  ])
  const changeIds = [
    ...approvers.flatMap(({ beganByChange }) => beganByChange ?? []),
    ...groupChangesOf(record),
  ]
  if (policy.approvedByChange !== null) changeIds.unshift(policy.approvedByChange)
  const newest = record.receipts.at(-1)
  const artifacts: Part[] = [
    ...changeIds.map((change) => ({ kind: 'change' as const, id: change })),
    ...requestIdsOf(record).map((requestId) => ({ kind: 'approval-request' as const, id: requestId })),
    ...approvals.map(({ payload }) => ({ kind: 'approval' as const, id: payload.approvalId })),
    { kind: 'authorization', id },
    ...(newest === undefined ? [] : [{ kind: 'receipt' as const, id }]),
    ...(record.confirmations ?? []).map(({ confirmation }) => ({
      kind: 'confirmation' as const,
      id: confirmation.confirmationId,
    })),
  ]
  const [changes, proven] = await Promise.all([
    readChanges(pool, changeIds),
    // A caller who may read the record may also read the evidence that it rests on.
    logProofs.prove(artifacts, { owner: null, waitMs, sql: pool }),
  ])
  const proofs: string[] = []
  for (const [i, { kind, id: ofId }] of artifacts.entries()) {
    const found = proven[i]
    if (found === undefined || found.state === 'not logged')
      return failures.noBundle(
        `its ${NAMES[kind]} is not in the evidence log, which began later or was off when it was stored`,
      )
    if (found.state === 'queued' || (kind === 'receipt' && !isOf(found, newest!.receiptHash)))
      return undefined
    proofs.push(JSON.stringify({ kind, id: ofId, proof: proofText(found.proof) }))
  }
  return bundleText({
    bundle: '"countersign/1"',
    record: recordText,
    policy: JSON.stringify(policy.content),
    approverKeys: JSON.stringify(approvers.map((row) => approverKeyJson(approverOf(row)))),
    changes: `[${changes.map(changeText).join(',')}]`,
    proofs: `[${proofs.join(',')}]`,
  })
}

/** Joins JSON texts into one object. Signed texts are spliced in as they are stored and never rendered again. */
function bundleText(members: Readonly<Record<keyof Static<typeof EvidenceBundle>, string>>): string {
  const texts = Object.entries(members).map(([name, text]) => `"${name}":${text}`)
  return `{${texts.join(',')}}`
}

/** An artifact that a bundle proves. */
type Part = ArtifactName & { readonly kind: keyof typeof NAMES }

const NAMES = {
  change: 'governance change',
  'approval-request': 'approval request',
  approval: 'approval',
  authorization: 'authorization',
  receipt: 'newest receipt',
  confirmation: 'provider confirmation',
} as const

/** Each approval once: it can stand for several signals. */
function approvalsOf({ executions }: Read): Approval[] {
  const approvals = executions.flatMap(({ decision }) =>
    Object.values(decision.verifiedSignals).flatMap((signal) => signal.approvals ?? []),
  )
  return [...new Map(approvals.map((approval) => [approval.payload.approvalId, approval])).values()]
}

/** Each request once. */
function requestIdsOf({ executions }: Read): string[] {
  const requests = executions.flatMap(({ decision }) =>
    Object.values(decision.verifiedSignals).flatMap(({ request }) => request?.requestId ?? []),
  )
  return [...new Set(requests)]
}

/** The changes that set the groups and the stand-ins by which approvals count, each once. */
function groupChangesOf({ executions }: Read): string[] {
  const groups = executions.flatMap(({ decision }) =>
    Object.values(decision.verifiedSignals).flatMap((signal) => signal.groups ?? []),
  )
  return [
    ...new Set(groups.flatMap(({ changeId, standInChangeId }) => [changeId, standInChangeId ?? []].flat())),
  ]
}

async function policyOf({ authorization }: Read, sql: Logs['pool']) {
  const { policyName: name, policyVersion: version, policyContentHash } = authorization.payload
  const policy = await readPolicyVersion(sql, { name, version })
  if (policy?.contentHash !== policyContentHash)
    throw new Error(`policy ${name} ${version} is stored with other content than was executed under`)
  return policy
}

/** Between reading the record and proving it, another receipt may have become the newest. */
function isOf({ proof }: Extract<Proven, { state: 'proven' }>, receiptHash: string): boolean {
  const entry = parseEntry(Buffer.from(proof.entry).toString())
  return isEntryOf(entry, { kind: 'receipt', hash: receiptHash }) !== undefined
}
