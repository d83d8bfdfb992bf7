// Offline verification of evidence: text and a saved key set in, a report out (decisions §4, §9). No network, no clock, no
// part of the server; it runs in a browser as it stands.
import type { Json } from '../json/canonical.ts'
import { checkAuditEvent } from './audit-event.ts'
import { cryptoOf } from './crypto.ts'
import { isMembers, type Check, type Members } from './evidence.ts'
import { checkGovernanceChange, notesOnChange } from './governance-change.ts'
import { checkIntentTransition } from './intent-transition.ts'
import { readKeySet, type KeySet, type VerifyingKey } from './keys.ts'
import { notProven, type EvidenceKind } from './not-proven.ts'
import { parseEvidence } from './parse.ts'
import { checkReceipt, notesOnReceipt } from './receipt.ts'
import { checkRefusalRecord } from './refusal-record.ts'
import { notesOnUnsigned } from './unsigned.ts'
import { Unusable } from './unusable.ts'
import { checkWholeRecord, notesOnRecord } from './whole-record.ts'

export { Unusable }
export type { Check, EvidenceKind }

/**
 * valid      every check holds, and there was at least one
 * invalid    a check fails, whatever cannot be checked beside it
 * unchecked  no check fails, and at least one could not be made: a key is not given, or an entry of a file is no evidence
 */
export type Verdict = 'valid' | 'invalid' | 'unchecked'

export interface Report {
  readonly artifact: EvidenceKind | 'unknown'
  /** The id of the evidence, as it names itself; `(no id)` where it has none. */
  readonly subject: string
  readonly verdict: Verdict
  /** Whether the verdict is `valid`. */
  readonly valid: boolean
  readonly checks: readonly Check[]
  /** The keys that a signature held by. */
  readonly keys: readonly Pick<VerifyingKey, 'keyId' | 'algorithm' | 'fingerprint'>[]
  /** What a reader should know that is no failure, such as that a record carries no receipt. */
  readonly notes: readonly string[]
  /** What a pass does not prove. */
  readonly notProven: readonly string[]
}

/**
 * Verifies one piece of evidence: a record, a receipt, a refusal record, a change, `{event, signature}` or `{transition, signature}`.
 * @param keySet the saved answer of GET /.well-known/jwks.json, a standard JWKS, or a key as GET /keys/{keyId} answers it, as text or
 *   parsed; or a list of these, which count as one set
 * @throws Unusable when the text is not such evidence, or the key set cannot be read
 */
export function verifyEvidence(text: string, keySet: unknown): Report {
  const keys = keySetOf(keySet)
  const evidence = parseEvidence(text, 'The evidence')
  if (bulkEntries(evidence) !== undefined)
    throw new Unusable('This is a file of several pieces of evidence: verify them one by one.')
  return reportOn(evidence, keys, 'This')
}

/**
 * As `verifyEvidence`, and for bulk files: an array, as GET /trust-records answers, `{events: [...]}` or `{changes: [...]}`.
 * @returns one report for each entry in order, at least one. An entry that is not evidence is reported as one that cannot be checked, and
 *   hides no other
 * @throws Unusable for an empty file too: no evidence is not valid evidence
 */
export function verifyFile(text: string, keySet: unknown): Report[] {
  return verifyFileBy(text, keySetOf(keySet))
}

/** As `verifyFile`, by keys that were read before. */
export function verifyFileBy(text: string, keys: KeySet): Report[] {
  const evidence = parseEvidence(text, 'The evidence')
  const entries = bulkEntries(evidence)
  if (entries === undefined) return [reportOn(evidence, keys, 'This')]
  if (entries.length === 0) throw new Unusable('The file is an empty list: there is no evidence to verify.')
  return entries.map((entry, i) => {
    try {
      return reportOn(entry, keys, `Entry ${i + 1}`)
    } catch (error) {
      if (error instanceof Unusable) return noEvidence(error.message)
      throw error
    }
  })
}

function noEvidence(note: string): Report {
  const none = { checks: [], keys: [], notProven: [] }
  return {
    artifact: 'unknown',
    subject: '(no id)',
    verdict: 'unchecked',
    valid: false,
    ...none,
    notes: [note],
  }
}

function keySetOf(keySet: unknown): KeySet {
  return readKeySet(Array.isArray(keySet) ? keySet.map(parsedKeys) : parsedKeys(keySet))
}

function parsedKeys(given: unknown): Json {
  return typeof given === 'string' ? parseEvidence(given, 'The key set') : (given as Json)
}

/** Undefined for what is evidence itself, whatever list it carries besides. */
function bulkEntries(evidence: Json): readonly Json[] | undefined {
  const isPage = isMembers(evidence) && kindsOf(evidence).length === 0
  if (!isPage) return Array.isArray(evidence) ? (evidence as readonly Json[]) : undefined
  const lists = [evidence['events'], evidence['changes']].filter((entries) => entries !== undefined)
  // Of two lists, one would go unread.
  const [entries] = lists.length === 1 ? lists : []
  return Array.isArray(entries) ? (entries as readonly Json[]) : undefined
}

function reportOn(evidence: Json, keySet: KeySet, which: string): Report {
  const members = isMembers(evidence) ? evidence : {}
  const artifact = kindOf(members, which)
  const used = new Map<string, VerifyingKey>()
  const crypto = cryptoOf(keySet, (key) => used.set(key.keyId, key))
  const { idOf, check, notesOn } = KINDS[artifact]
  const checks = check(members, crypto)
  const id = idOf(members)
  const verdict = verdictOf(checks)
  return {
    artifact,
    subject: typeof id === 'string' ? id : '(no id)',
    verdict,
    valid: verdict === 'valid',
    checks,
    keys: Array.from(used.values(), ({ keyId, algorithm, fingerprint }) => ({
      keyId,
      algorithm,
      fingerprint,
    })),
    notes: [...(notesOn?.(members, crypto) ?? []), ...notesOnUnsigned(artifact, members)],
    notProven: notProven(artifact),
  }
}

/** A failure decides: a key that is not given must not make one look like a gap in the key set. */
function verdictOf(checks: readonly Check[]): Verdict {
  const problems = checks.filter(({ problem }) => problem !== undefined)
  if (problems.some(({ missingKeys }) => missingKeys === undefined)) return 'invalid'
  return checks.length > 0 && problems.length === 0 ? 'valid' : 'unchecked'
}

interface Kind {
  /** Members that this kind has and no other. */
  readonly marks: readonly string[]
  readonly idOf: (evidence: Members) => Json | undefined
  readonly check: (evidence: Members, crypto: ReturnType<typeof cryptoOf>) => Check[]
  readonly notesOn?: (evidence: Members, crypto: ReturnType<typeof cryptoOf>) => readonly string[]
}

const KINDS: Readonly<Record<EvidenceKind, Kind>> = {
  'trust-record': {
    marks: ['trustRecordId'],
    idOf: ({ trustRecordId }) => trustRecordId,
    check: checkWholeRecord,
    notesOn: notesOnRecord,
  },
  receipt: {
    marks: ['receiptId'],
    idOf: ({ receiptId }) => receiptId,
    check: checkReceipt,
    notesOn: (receipt) => notesOnReceipt(receipt),
  },
  'refusal-record': {
    marks: ['refusalRecordId'],
    idOf: ({ refusalRecordId }) => refusalRecordId,
    check: checkRefusalRecord,
  },
  'audit-event': {
    marks: ['event', 'signature'],
    idOf: ({ event }) => (isMembers(event) ? event['eventId'] : undefined),
    check: checkAuditEvent,
  },
  'governance-change': {
    marks: ['changeId', 'changeHash', 'signature'],
    idOf: ({ changeId }) => changeId,
    check: checkGovernanceChange,
    notesOn: notesOnChange,
  },
  'intent-transition': {
    marks: ['transition', 'signature'],
    idOf: ({ transition }) => (isMembers(transition) ? transition['transitionId'] : undefined),
    check: checkIntentTransition,
  },
}

function kindOf(evidence: Members, which: string): EvidenceKind {
  const kinds = kindsOf(evidence)
  const [kind, ...others] = kinds
  if (kind === undefined)
    throw new Unusable(
      `${which} is no evidence of a known kind: a record has a trustRecordId, a receipt a receiptId, a refusal a refusalRecordId, a change a changeId, a changeHash and a signature; an audit event stands as {event, signature}, an intent's transition as {transition, signature}.`,
    )
  if (others.length > 0)
    throw new Unusable(`${which} claims to be several kinds of evidence: ${kinds.join(', ')}.`)
  return kind
}

function kindsOf(evidence: Members): EvidenceKind[] {
  return (Object.keys(KINDS) as EvidenceKind[]).filter((kind) =>
    KINDS[kind].marks.every((mark) => Object.hasOwn(evidence, mark)),
  )
}
