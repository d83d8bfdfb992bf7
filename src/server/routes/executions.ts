// The search for executions, from the catalogue (docs/handbook/finding.md).
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { catalogueStanding, FOLLOWED } from '../../core/catalogue/follow.ts'
import type { Config } from '../../core/config/config.ts'
import type { PathParams } from '../../core/threads/thread-messages.ts'
import { readableOwner } from '../../formats/people/caller.ts'
import { CatalogueEntry, CataloguePage, catalogueStatuses } from '../../formats/schemas/catalogue.ts'
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { readPlace } from '../../store/tables/catalogue-state.ts'
import { listEntries, type ListedEntry } from '../../store/tables/catalogue-read.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { equalText, ofCaller, partOfWord, timeRange } from '../openapi/parameters.ts'
import { wantsCsv, type Cells } from './csv.ts'
import { wantsLines } from './lines.ts'
import { list, WAIT_SECONDS_MAX } from './list.ts'
import { get, textWithoutNulls, type Route, type RouteRequest } from '../route.ts'
import type { Reading, Waits } from '../service.ts'

/** Without a catalogue the path does not exist. */
export const inCatalogue = {
  mounted: (_params: PathParams, { catalogue }: Config) => catalogue !== undefined,
}

const amount = (which: string) => ({
  schema: Type.String({ pattern: '^-?\\d{1,15}(\\.\\d{1,9})?$' }),
  description: `Only amounts of ${which}.`,
  mustBe: 'a decimal number such as 250 or 99.95',
})

/** The filters of lists from the catalogue. */
export const catalogueFilters = {
  status: { schema: Type.Enum([...catalogueStatuses]), description: 'Only executions with this status.' },
  approvable: {
    schema: Type.Enum(['true', 'false']),
    description:
      'With `true` only refusals that approvals would have lifted, with `false` everything else: with `status=refused` what the policy forbids.',
  },
  contradicted: {
    schema: Type.Enum(['true', 'false']),
    description:
      "With `true` only what a provider's delivery contradicts, with `false` everything else (`GET /webhook-events?outcome=contradicted` has the deliveries).",
  },
  capability: equalText('this action'),
  target: equalText('this target'),
  policy: equalText('this policy'),
  policyVersion: { schema: NonEmptyText, description: 'Only this version.' },
  rule: equalText('what this rule decided'),
  ...ofCaller,
  ...timeRange,
  minAmount: amount('at least this'),
  maxAmount: amount('at most this'),
  currency: equalText('this currency'),
  q: partOfWord,
} as const

/** The period that a reply covers completely, read before its entries. */
export async function completenessOf(sql: Sql) {
  const { completeUntil = null, completeSince = null } = (await catalogueStanding(sql)) ?? {}
  return { completeUntil, completeSince }
}

export const executionExample = {
  businessTransactionId: '938ec07b-1041-456a-8ca2-c3b3567616ef',
  status: 'completed',
  decidedAt: '2026-11-21T14:28:01.967Z',
  completedAt: '2026-11-21T14:28:01.997Z',
  callerId: 'paying-agent',
  principalId: 'paying-agent',
  capability: 'vendor:pay',
  target: 'vendor-17',
  policyName: 'vendor-payment',
  policyVersion: '2.1.0',
  rule: 'pay',
  summary: 'Pay 250 EUR to vendor-17 for the invoice INV-2026-118.',
  amount: 250,
  currency: 'EUR',
  requestId: 'c8a0a62c-42f3-4cf4-8f9e-6d5a3a6a2c11',
}

export const executions = [
  list({
    ...get,
    ...inCatalogue,
    path: '/executions',
    operationId: 'listExecutions',
    tag: 'Catalogue',
    summary: 'Executions, by what they did',
    description:
      "Executions that have ended, were refused or are in doubt, with their amounts. A caller's own; everybody's for humans and auditors. It is no evidence: each entry is a copy of what its record or refusal says. With `Accept: application/x-ndjson` or `text/csv` the whole range in one reply that streams. " +
      `With \`Prefer: wait=N\` an empty page waits for an execution that fits, ${WAIT_SECONDS_MAX} seconds at most: give the time of the newest that you have as \`since\`.`,
    filters: catalogueFilters,
    schema: CataloguePage,
    member: 'executions',
    example: [executionExample],
    exampleBeside: { completeUntil: '2026-11-21T14:28:03.120Z', completeSince: null },
    lines: 'execution',
    csv: { columns: Object.keys(CatalogueEntry.properties), cellsOf: entryCells },
    beside: ({ pool }) => completenessOf(pool),
    waitFor: untilMore,
    read: (range, asked, { pool, exportPool }, request) =>
      listEntries(wantsLines(request) || wantsCsv(request) ? exportPool : pool, range, {
        ...asked,
        owner: readableOwner(request.caller),
      }),
    textOf: entryText,
  }),
] as const satisfies readonly Route[]

/** How soon an event is in the catalogue, when nothing else is done. */
const CATALOGUED_MS = 500

/** The catalogue follows the feed: entries that it does not have yet are behind its place there. */
async function untilMore({ caller, client }: RouteRequest, { pool, eventWatch }: Reading & Waits) {
  const place = await readPlace(pool)
  const scope = { callerId: readableOwner(caller), types: FOLLOWED }
  return {
    async wait(ms: number) {
      const mayBeThere = place !== undefined && (await eventWatch.wait(place, { scope, client, ms }))
      // A catalogue that lags always has events behind its place: this bounds how often the page is read again.
      if (mayBeThere) await delay(Math.min(ms, CATALOGUED_MS))
      return mayBeThere
    },
    again: <T>(read: () => Promise<T>) => eventWatch.read(client, read),
  }
}

/** @returns JSON */
export function entryText(entry: ListedEntry): string {
  return textWithoutNulls(entryCells(entry))
}

function entryCells({ amount: sum, ...entry }: ListedEntry): Cells {
  return { ...entry, amount: sum === null ? null : Number(sum) }
}
