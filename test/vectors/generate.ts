// Writes the published vectors: `npm run vectors`. The same bytes every time; test/vectors.test.ts compares. With `-- --whole <folder>` it writes them
// there, and no case is a patch of another one.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { format } from 'prettier'
import {
  approvalRequestCases,
  approvalRequestCloseCases,
  approvalRequestNoteCases,
} from './approval-requests.ts'
import { auditCases } from './audit-events.ts'
import { bundleCases } from './bundles.ts'
import { description } from './bundles/plan.ts'
import { Cases, type Case } from './case.ts'
import { fileCases } from './files.ts'
import { governanceCases } from './governance-changes.ts'
import { transitionCases } from './intent-transitions.ts'
import { keySetCases } from './key-sets.ts'
import { humanKeysJson, keys, keySetEntry, REVOKED_AT, revokedKey } from './keys.ts'
import { confirmationCases } from './provider-confirmations.ts'
import { folder, packed } from './published.ts'
import { receiptCases } from './receipts.ts'
import { summaryCases } from './summaries.ts'
import { refusalCases } from './refusal-records.ts'
import { passkeysJson } from './passkeys.ts'
import { humanAuthority } from './trust-records/approved.ts'
import { passkeyApprovals } from './trust-records/passkeys.ts'
import { requestedApprovals } from './trust-records/requested.ts'
import { refusedApprovals } from './trust-records/unapproved.ts'
import { authenticatedRecords } from './trust-records/authenticated.ts'
import { appendedTo } from './trust-records/appended.ts'
import { batchedRecords } from './trust-records/batched.ts'
import { changedRecords } from './trust-records/changed.ts'
import { confirmedRecords } from './trust-records/confirmed.ts'
import { malformedRecords } from './trust-records/malformed.ts'
import { forgedRecords } from './trust-records/signed.ts'
import { recordTexts } from './trust-records/texts.ts'
import { validRecords } from './trust-records/valid.ts'

/** By file name, in the order in which a reader meets them. */
function allCases(): Record<string, readonly Case[]> {
  const records = new Cases('trust-record')
  for (const add of [
    validRecords,
    changedRecords,
    authenticatedRecords,
    malformedRecords,
    forgedRecords,
    batchedRecords,
    appendedTo,
    confirmedRecords,
    recordTexts,
    humanAuthority,
    refusedApprovals,
    requestedApprovals,
    passkeyApprovals,
  ])
    add(records)
  return {
    'trust-records.json': records.cases,
    'receipts.json': receiptCases(),
    'refusal-records.json': refusalCases(),
    'audit-events.json': auditCases(),
    'governance-changes.json': governanceCases(),
    'intent-transitions.json': transitionCases(),
    'provider-confirmations.json': confirmationCases(),
    'approval-requests.json': approvalRequestCases(),
    'approval-request-closes.json': approvalRequestCloseCases(),
    'approval-request-notes.json': approvalRequestNoteCases(),
    'bundles.json': bundleCases(),
  }
}

/** Lists the content of each file, by name, with all evidence whole. */
export function vectorFiles(): Record<string, object> {
  const { oldEd25519, ed25519, oldMlDsa65, mlDsa65 } = keys
  const published = [oldEd25519, ed25519, oldMlDsa65, mlDsa65]
  const files: Record<string, object> = {
    'keys.json': {
      keys: [...published.map(keySetEntry), { ...keySetEntry(revokedKey), revokedAt: REVOKED_AT }],
    },
    'approver-keys.json': [...humanKeysJson(), ...passkeysJson()],
    'log.json': description,
  }
  for (const [name, cases] of Object.entries(allCases())) files[name] = { cases }
  files['key-sets.json'] = { cases: keySetCases() }
  files['files.json'] = { cases: fileCases() }
  files['summaries.json'] = { cases: summaryCases() }
  return files
}

/** The text of a file as it is published, in the project's own format: `prettier --check` leaves these files to test/vectors.test.ts. */
export function vectorText(content: { readonly cases?: readonly object[] }): Promise<string> {
  const { cases } = content
  return formatted(cases === undefined ? content : { ...content, cases: packed(cases) })
}

function formatted(content: object): Promise<string> {
  return format(JSON.stringify(content), { parser: 'json', printWidth: 110 })
}

if (import.meta.main) {
  const { whole } = parseArgs({ options: { whole: { type: 'string' } } }).values
  if (whole !== undefined) mkdirSync(whole, { recursive: true })
  for (const [name, content] of Object.entries(vectorFiles()))
    writeFileSync(join(whole ?? folder, name), await (whole === undefined ? vectorText : formatted)(content))
}
