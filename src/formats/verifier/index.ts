// Offline verification of evidence: text and a saved key set in, a report out (decisions §4, §9). No network, no clock, no
// part of the server; it runs in a browser without changes.
import type { Json } from '../json/canonical.ts'
import { inspectBundle } from './bundle.ts'
import { BUNDLE } from './kinds.ts'
import { cryptoOf, type VerifyEd25519 } from './crypto.ts'
import { isOpen, itemsOf, type Check } from '../artifacts/evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import type { Evidence } from '../artifacts/kind.ts'
import { evidenceKinds, type EvidenceKind } from '../artifacts/kinds.ts'
import { missingStepUpKey } from '../artifacts/governance-change.ts'
import { describedLogKey, readKeySet, type KeySet, type VerifyingKey } from './keys.ts'
import { checkMembers, pageList, problemOfPage } from '../artifacts/known-members.ts'
import { readLogTrust, type LogTrust } from './log-trust.ts'
import { notProven } from './not-proven.ts'
import { noteCrypto } from './note-crypto.ts'
import { parseEvidence } from './parse.ts'
import { passkeyUses, type PasskeyUse } from './passkey-counters.ts'
import { Unusable } from './unusable.ts'

export { isOpen, Unusable }
export type { Check, EvidenceKind, LogTrust }

/**
 * valid      every check passes, and there was at least one
 * invalid    a check fails, even if others could not be completed
 * unchecked  no check fails, and at least one could not be completed: a key of the service, of an approver or of the log is not given, an
 *            entry of a file is no evidence, or it has an unknown member that no signature covers
 */
export type Verdict = 'valid' | 'invalid' | 'unchecked'

export interface Report {
  readonly artifact: EvidenceKind | 'unknown'
  /** The id of the evidence, as it states; `(no id)` when it has none. */
  readonly subject: string
  readonly verdict: Verdict
  /** Whether the verdict is `valid`. */
  readonly valid: boolean
  readonly checks: readonly Check[]
  /** The keys that verified a signature. */
  readonly keys: readonly UsedKey[]
  /** Ids of humans' keys that are not given, so that the step-ups of changes were not checked: no verdict depends on them. */
  readonly missingStepUpKeys: readonly string[]
  /** The approvals by passkeys in valid evidence, for the summary of several files. */
  readonly passkeyUses: readonly PasskeyUse[]
  /** Notes for the reader that are no failures, for example that a record has no receipt. */
  readonly notes: readonly string[]
  /** Sentences about facts that a pass does not prove. */
  readonly notProven: readonly string[]
}

interface UsedKey extends Pick<VerifyingKey, 'keyId' | 'fingerprint'> {
  /** ML-DSA-44 signs checkpoints only. */
  readonly algorithm: VerifyingKey['algorithm'] | 'ml-dsa-44'
}

/** The reader's trust besides the key set. */
export interface Trust {
  /**
   * The log by which bundles are checked: the saved answer of GET /.well-known/countersign-log, as text or parsed, or the text of a C2SP
   * tlog-policy. Without it no proof can be checked.
   */
  readonly log?: unknown
}

/**
 * Verifies one piece of evidence: a record, a receipt, a refusal record, a change, a bundle, `{event, signature}`,
 * `{transition, signature}` or `{confirmation, signature}`, an approval request or its close.
 * @param keySet the saved answer of GET /.well-known/jwks.json, a standard JWKS, or a key from GET /keys/{keyId}, as text or
 *   parsed; or a list of these, which count as one set
 * @throws Unusable when the text is not such evidence, or the key set or the log description cannot be read
 */
export function verifyEvidence(text: string, keySet: unknown, trust: Trust = {}): Report {
  const trusted = readTrusted(keySet, trust)
  const evidence = parseEvidence(text, 'The evidence')
  if (bulkEntries(evidence) !== undefined)
    throw new Unusable('This is a file of several pieces of evidence: verify them one by one.')
  return reportOn(evidence, trusted, 'This')
}

/**
 * As `verifyEvidence`, and also for bulk files: an array, as from GET /trust-records, `{events: [...]}`, `{changes: [...]}`,
 * `{confirmations: [...]}`, `{requests: [...]}` or `{refusals: [...]}`.
 * @returns one report for each entry in order, at least one. An entry that is not evidence is reported as unchecked, and
 *   hides no other entry; after them comes a report on members that are not part of a page
 * @throws Unusable also for an empty file: no evidence is not valid evidence
 */
export function verifyFile(text: string, keySet: unknown, trust: Trust = {}): Report[] {
  return verifyFileBy(text, readTrusted(keySet, trust))
}

/** Keys and logs that have been read. */
export interface Trusted {
  readonly keys: KeySet
  readonly log: LogTrust | undefined
  /** Another implementation of the Ed25519 check; undefined: the implementation of this folder. */
  readonly ed25519?: VerifyEd25519 | undefined
}

/**
 * Reads the keys that the caller trusts.
 * @throws Unusable as `verifyFile`
 */
export function readTrusted(keySet: unknown, trust: Trust = {}): Trusted {
  return { keys: keySetOf(keySet), log: logTrustOf(trust) }
}

/** As `verifyFile`, with keys that have been read. */
export function verifyFileBy(text: string, trusted: Trusted): Report[] {
  const evidence = parseEvidence(text, 'The evidence')
  const page = pageOf(evidence)
  if (page === undefined) return [reportOn(evidence, trusted, 'This')]
  if (page.entries.length === 0)
    throw new Unusable(page.problem ?? 'The file is an empty list: there is no evidence to verify.')
  const reports = page.entries.map((entry, i) => {
    try {
      return reportOn(entry, trusted, `Entry ${i + 1}`)
    } catch (error) {
      if (error instanceof Unusable) return noEvidence(error.message)
      throw error
    }
  })
  return page.problem === undefined ? reports : [...reports, noEvidence(page.problem)]
}

/** The report on a text that is not evidence. */
export function noEvidence(note: string): Report {
  const none = { checks: [], keys: [], missingStepUpKeys: [], passkeyUses: [], notProven: [] }
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

function logTrustOf({ log }: Trust): LogTrust | undefined {
  return log === undefined ? undefined : readLogTrust(log, noteCrypto.sha256)
}

function parsedKeys(given: unknown): Json {
  return typeof given === 'string' ? parseEvidence(given, 'The key set') : (given as Json)
}

/** The kind of evidence that its members indicate; undefined for no kind, and for several. */
export function artifactOf(evidence: Members): EvidenceKind | undefined {
  const kinds = kindsOf(evidence)
  return kinds.length === 1 ? kinds[0] : undefined
}

/** The entries of a list or a page. Undefined for evidence itself, whatever list it contains. */
export function bulkEntries(evidence: Json): readonly Json[] | undefined {
  return pageOf(evidence)?.entries
}

interface Page {
  readonly entries: readonly Json[]
  /** A sentence about members next to the entries that are not part of a page. */
  readonly problem?: string | undefined
}

function pageOf(evidence: Json): Page | undefined {
  if (Array.isArray(evidence)) return { entries: evidence as readonly Json[] }
  if (!isMembers(evidence) || kindsOf(evidence).length > 0) return undefined
  const list = pageList(evidence)
  if (list === undefined) return undefined
  return { entries: itemsOf(evidence[list]), problem: problemOfPage(evidence, list) }
}

function reportOn(evidence: Json, trusted: Trusted, which: string): Report {
  const members = isMembers(evidence) ? evidence : {}
  const artifact = kindOf(members, which)
  const used = new Map<string, UsedKey>()
  const { idOf, inspect, members: known } = KINDS.get(artifact)!
  const inspected = inspect(members, { ...trusted, onUsed: (key) => used.set(key.keyId, key) })
  const checks = [...inspected.checks, checkMembers(members, known)]
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
    missingStepUpKeys: missingStepUpKeysIn(artifact, members, trusted.keys),
    passkeyUses: verdict === 'valid' ? passkeyUses(artifact, members) : [],
    notes: [...new Set([...inspected.notes, ...checks.flatMap(({ notes = [] }) => notes)])],
    notProven: notProven(artifact),
  }
}

function missingStepUpKeysIn(artifact: EvidenceKind, evidence: Members, keys: KeySet): string[] {
  const changes =
    artifact === 'governance-change' ? [evidence] : artifact === 'bundle' ? evidence['changes'] : []
  const humanKey = (keyId: string) => keys.get(keyId)
  const missing = itemsOf(changes)
    .filter(isMembers)
    .map((change) => missingStepUpKey(change, { humanKey }))
    .filter((keyId) => keyId !== undefined)
  return [...new Set(missing)]
}

/** A failure decides: a key that is not given must not make a failure look like a gap in the key set. */
function verdictOf(checks: readonly Check[]): Verdict {
  const problems = checks.filter(({ problem }) => problem !== undefined)
  if (!problems.every(isOpen)) return 'invalid'
  return checks.length > 0 && problems.length === 0 ? 'valid' : 'unchecked'
}

interface Kind extends Pick<Evidence, 'marks' | 'idOf' | 'members'> {
  readonly inspect: (evidence: Members, given: Given) => Inspection
}

interface Given extends Trusted {
  readonly onUsed: (key: UsedKey) => void
}

interface Inspection {
  readonly checks: readonly Check[]
  readonly notes: readonly string[]
}

/** A kind whose check needs no log. */
function kindBy({ check, notesOn = () => [], ...kind }: Evidence): Kind {
  return {
    ...kind,
    inspect(evidence, { keys, onUsed, ed25519 }) {
      const crypto = cryptoOf(keys, onUsed, ed25519)
      return { checks: check(evidence, crypto), notes: notesOn(evidence, crypto) }
    },
  }
}

const bundle: Kind = {
  ...BUNDLE,
  inspect: (evidence, { keys, log, onUsed, ed25519 }) =>
    inspectBundle(evidence, {
      keys,
      log,
      cryptoBy: (known) => cryptoOf(known, onUsed, ed25519),
      onLogKeyUsed: (key) => onUsed(describedLogKey(key)),
    }),
}

const KINDS: ReadonlyMap<EvidenceKind, Kind> = new Map([
  ...evidenceKinds.map(({ name, evidence }): [EvidenceKind, Kind] => [name, kindBy(evidence)]),
  ['bundle', bundle],
])

function kindOf(evidence: Members, which: string): EvidenceKind {
  // It may name a receipt like a receipt itself, and would be reported as an altered one.
  if (['eventId', 'occurredAt', 'entry'].every((member) => Object.hasOwn(evidence, member)))
    throw new Unusable(
      `${which} is an event of GET /events, which is not signed: verify the evidence that it names.`,
    )
  const kinds = kindsOf(evidence)
  const [kind, ...others] = kinds
  if (kind === undefined && typeof evidence['error'] === 'string')
    throw new Unusable(
      `${which} is no evidence but an error that a service answered: ${JSON.stringify(evidence['error'])}.`,
    )
  if (kind === undefined)
    throw new Unusable(
      `${which} is no evidence of a known kind: a record has a trustRecordId, a receipt a receiptId, a refusal a refusalRecordId, a change a changeId, a changeHash and a signature, a bundle the member bundle; an audit event stands as {event, signature}, an intent's transition as {transition, signature}, a provider's confirmation as {confirmation, signature}; an approval request has a request, a requestHash and a signature, its end a closeId, a note on it a noteId.`,
    )
  if (others.length > 0)
    throw new Unusable(`${which} claims to be several kinds of evidence: ${kinds.join(', ')}.`)
  return kind
}

function kindsOf(evidence: Members): EvidenceKind[] {
  return [...KINDS].flatMap(([kind, { marks }]) =>
    marks.every((mark) => Object.hasOwn(evidence, mark)) ? [kind] : [],
  )
}
