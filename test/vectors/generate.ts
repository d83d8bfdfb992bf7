// Writes the published vectors: `npm run vectors`. The same bytes every time; test/vectors.test.ts compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { auditCases } from './audit-events.ts'
import { Cases, type Case } from './case.ts'
import { fileCases } from './files.ts'
import { governanceCases } from './governance-changes.ts'
import { transitionCases } from './intent-transitions.ts'
import { keySetCases } from './key-sets.ts'
import { humanKeysJson, keys, publicKeyJson } from './keys.ts'
import { receiptCases } from './receipts.ts'
import { refusalCases } from './refusal-records.ts'
import { humanAuthority } from './trust-records/approved.ts'
import { refusedApprovals } from './trust-records/unapproved.ts'
import { appendedTo } from './trust-records/appended.ts'
import { batchedRecords } from './trust-records/batched.ts'
import { changedRecords } from './trust-records/changed.ts'
import { malformedRecords } from './trust-records/malformed.ts'
import { forgedRecords } from './trust-records/signed.ts'
import { recordTexts } from './trust-records/texts.ts'
import { validRecords } from './trust-records/valid.ts'

export const folder = join(import.meta.dirname, 'countersign')

/** By file name, in the order in which a reader meets them. */
function allCases(): Record<string, readonly Case[]> {
  const records = new Cases('trust-record')
  for (const add of [
    validRecords,
    changedRecords,
    malformedRecords,
    forgedRecords,
    batchedRecords,
    appendedTo,
    recordTexts,
    humanAuthority,
    refusedApprovals,
  ])
    add(records)
  return {
    'trust-records.json': records.cases,
    'receipts.json': receiptCases(),
    'refusal-records.json': refusalCases(),
    'audit-events.json': auditCases(),
    'governance-changes.json': governanceCases(),
    'intent-transitions.json': transitionCases(),
  }
}

/** The files' texts by name. */
export async function vectorFiles(): Promise<Record<string, string>> {
  const published = Object.values(keys).toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
  const files: Record<string, object> = {
    'keys.json': { keys: published.map(publicKeyJson) },
    'approver-keys.json': humanKeysJson(),
  }
  for (const [name, cases] of Object.entries(allCases())) files[name] = { cases }
  files['key-sets.json'] = { cases: keySetCases() }
  files['files.json'] = { cases: fileCases() }
  const texts = Object.entries(files).map(async ([name, value]) => [
    name,
    // The project's own format; `prettier --check` leaves these files to test/vectors.test.ts.
    await format(JSON.stringify(value), { parser: 'json', printWidth: 110 }),
  ])
  return Object.fromEntries((await Promise.all(texts)) as [string, string][])
}

if (import.meta.main)
  for (const [name, text] of Object.entries(await vectorFiles())) writeFileSync(join(folder, name), text)
