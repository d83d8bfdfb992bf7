// The service says in its own schemas what it answers: every verifier knows each member of it, the optional ones too, and needs none of
// these. Otherwise genuine evidence could not be checked: that with a member that was added to a schema alone, or without an optional one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/formats/json/canonical.ts'
import { ApprovalRequest, ApprovalRequestPage } from '../../src/formats/schemas/approval-request.ts'
import { AuditEventPage, AuditEventWithSignature } from '../../src/formats/schemas/audit-event.ts'
import { EvidenceBundle } from '../../src/formats/schemas/evidence-bundle.ts'
import { IntentTransitionWithSignature } from '../../src/formats/schemas/execution-intent.ts'
import { Change, ChangePage } from '../../src/formats/schemas/governance.ts'
import { Instant } from '../../src/formats/schemas/primitives.ts'
import {
  ProviderConfirmationPage,
  ProviderConfirmationWithSignature,
} from '../../src/formats/schemas/provider-confirmation.ts'
import { Receipt } from '../../src/formats/schemas/receipt.ts'
import { RefusalPage, RefusalRecord } from '../../src/formats/schemas/refusal-record.ts'
import { ExecutionTrustRecord } from '../../src/formats/schemas/trust-record.ts'
import { artifactOf } from '../../src/formats/verifier/index.ts'
import { checkMembers, pageList, problemOfPage } from '../../src/formats/artifacts/known-members.ts'
import { VERIFIED_MESSAGE } from '../../src/formats/artifacts/whole-record.ts'
import { described } from '../../src/formats/verifier/kinds.ts'
import type { EvidenceKind } from '../../src/formats/artifacts/kinds.ts'
import { HANDBOOK_VERIFIER, hasCryptography, noPython, pythonAnswers } from '../vectors/answers.ts'
import type { Members } from '../vectors/edit.ts'
import { folder } from '../vectors/published.ts'

const KEY_SET = readFileSync(join(folder, 'keys.json'), 'utf8')

const SERVED: Record<EvidenceKind, TSchema> = {
  'trust-record': ExecutionTrustRecord,
  receipt: Receipt,
  'refusal-record': RefusalRecord,
  'audit-event': AuditEventWithSignature,
  'governance-change': Change,
  'intent-transition': IntentTransitionWithSignature,
  'provider-confirmation': ProviderConfirmationWithSignature,
  'approval-request': ApprovalRequest,
  'approval-request-close': ApprovalRequest.properties.closed,
  'approval-request-note': ApprovalRequest.properties.notes.items,
  bundle: EvidenceBundle,
}

const PAGES = [AuditEventPage, ChangePage, ProviderConfirmationPage, ApprovalRequestPage, RefusalPage]

interface Written {
  readonly properties?: Record<string, Written>
  readonly required?: readonly string[] | undefined
  readonly items?: Written
  readonly anyOf?: readonly Written[]
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly type?: string
  readonly pattern?: string
}

/** More than any list of choices is long. */
const TURNS = 20

/**
 * A value of the schema with every member of its own; in each turn another choice where there are several. `bare`: an object in it has
 * only what is required.
 */
function whole(schema: Written, turn: number, bare = false, isInside = false): Json {
  if (schema.const !== undefined) return schema.const
  const choices = schema.enum ?? schema.anyOf
  if (choices !== undefined) {
    const choice = choices[turn % choices.length]
    return schema.enum === undefined ? whole(choice as Written, turn, bare, isInside) : (choice as Json)
  }
  if (schema.type === 'object') {
    const members = Object.entries(schema.properties ?? {})
    const there = bare && isInside ? members.filter(([name]) => schema.required?.includes(name)) : members
    return Object.fromEntries(there.map(([name, member]) => [name, whole(member, turn, bare, true)]))
  }
  if (schema.type === 'array') return [whole(schema.items ?? {}, turn, bare, true)]
  if (schema.type === 'integer' || schema.type === 'number') return 1
  if (schema.type === 'boolean') return true
  if (schema.type === 'null') return null
  return schema.pattern === (Instant as Written).pattern ? '2026-01-02T03:04:05.678Z' : VERIFIED_MESSAGE
}

const served = Object.entries(SERVED).flatMap(([kind, schema]) =>
  Array.from({ length: TURNS }, (_, turn) => turn).flatMap((turn) =>
    [false, true].map((bare) => ({
      kind: kind as EvidenceKind,
      evidence: whole(schema as Written, turn, bare) as Members,
    })),
  ),
)

describe('what the service answers', () => {
  test.each(Object.keys(SERVED) as EvidenceKind[])('of kind %s has no member that is not known', (kind) => {
    for (const { evidence } of served.filter((one) => one.kind === kind)) {
      expect(artifactOf(evidence)).toBe(kind)
      expect(checkMembers(evidence, described(kind).members)).toEqual({ name: 'members', problem: undefined })
    }
  })

  test.skipIf(noPython)('has none that the Python verifier does not know', async () => {
    const texts = served.map(({ evidence }) => ({ text: JSON.stringify(evidence) }))
    const [, ...answers] = await pythonAnswers([{ files: [KEY_SET] }, ...texts])
    expect(answers).toHaveLength(served.length)
    for (const answer of answers)
      expect(answer).toMatchObject({
        reports: [{ checks: expect.arrayContaining([['members', 'holds']]) as unknown }],
      })
  })

  test.skipIf(!hasCryptography)('has none that the verifier from the handbook does not know', async () => {
    const texts = served.map(({ evidence }) => ({ text: JSON.stringify(evidence) }))
    const [, ...answers] = await pythonAnswers([{ files: [KEY_SET] }, ...texts], HANDBOOK_VERIFIER)
    expect(answers).toHaveLength(served.length)
    for (const answer of answers) {
      const [report] = 'reports' in answer ? answer.reports : []
      expect(report?.checks.length).toBeGreaterThan(0)
      expect(report?.checks.filter(([name]) => name === 'members')).toEqual([])
    }
  })

  test('a page of it has no member that is not known', () => {
    for (const schema of PAGES) {
      const page = whole(schema, 0) as Members
      expect(problemOfPage(page, pageList(page)!)).toBeUndefined()
    }
  })
})
