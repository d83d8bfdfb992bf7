// Compares a request with others, so that its approvers look twice where it differs: with actions on its target and by its caller, with other
// open or declined requests for its target, and with the same action on another target. The inbox and the page of a request share it.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { Persons } from '../../formats/people/persons.ts'
import type {
  ApprovalRequestClose,
  ApprovalRequestContent,
  Compared,
} from '../../formats/schemas/approval-request.ts'
import {
  findRequestsBeside,
  type RequestBeside,
  type StandingRequest,
} from '../../store/tables/approval-requests.ts'
import { countTargetsOf, doneByCallers, doneOnTargets, findAlike } from '../../store/tables/catalogue-read.ts'
import { plainText } from '../../store/postgres/json.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** Maximum number of other targets that are shown. A value that more targets share identifies nothing: a cost centre, a fixed text. */
const ELSEWHERE_MAX = 3

/** Shorter texts are codes, such as a currency, that are the same everywhere. */
const REFERENCE_MIN = 4

type Asked = Pick<StandingRequest, 'body' | 'status' | 'approvals' | 'closeBody'>

/**
 * @param asked requests that are open, or a single one
 * @param from.hasCatalogue whether executions can be searched for
 * @returns in the order of `asked`
 */
export async function comparedOf(
  sql: Sql,
  asked: readonly Asked[],
  { persons, hasCatalogue }: { readonly persons: Persons; readonly hasCatalogue: boolean },
): Promise<Compared[]> {
  const [first] = asked
  if (first === undefined) return []
  const contents = asked.map(({ body }) => JSON.parse(body) as ApprovalRequestContent)
  const at = asked.length === 1 ? decidedAt(first, contents[0]!) : null
  const references = contents.map(referencesOf)
  const numbers = contents.map(({ parameters }) => numbersOf(parameters))
  const beside = (
    await findRequestsBeside(
      sql,
      {
        targets: contents.map(({ target }) => target),
        // The same sum on another target counts as alike only if a text is the same, too.
        parameters: contents.flatMap((_, place) =>
          numbers[place]!.length === 0
            ? []
            : references[place]!.map((reference) => [reference, ...numbers[place]!]),
        ),
      },
      persons,
    )
  ).flatMap((row) => standingAt(row, at))
  const actions = contents.map(({ capability, target, requestedBy }) => ({
    capability,
    target: plainText(target),
    callerId: requestedBy,
  }))
  const amounts = contents.flatMap(({ policy, capability, target }, place) =>
    references[place]!.length === 0
      ? []
      : numbers[place]!.map(([, amount]) => ({
          place,
          policy: policy.name,
          capability,
          target: plainText(target),
          amount,
        })),
  )
  const onTargets = hasCatalogue ? await doneOnTargets(sql, actions, at) : undefined
  const byCallers = hasCatalogue ? await doneByCallers(sql, actions, at) : undefined
  const alike = hasCatalogue ? await findAlike(sql, amounts, at) : []
  const found = contents.map((content, place) => [
    ...alike
      .filter((entry) => entry.place === place)
      .map(({ businessTransactionId, target, status, search }) => {
        const lines = new Set(search.split('\n'))
        const values = references[place]!.map(([, value]) => value)
        return {
          businessTransactionId,
          target,
          status,
          shared: values.filter((value) => lines.has(folded(value))),
        }
      }),
    ...beside
      .filter((other) => isSameElsewhere(content, numbers[place]!, other))
      .map((other) => elsewhere(content, other)),
  ])
  const targetsOf = await spreadOf(
    sql,
    contents.map(({ policy }) => policy.name),
    found.flat(),
    hasCatalogue,
  )
  return contents.map((content, place) => ({
    ...(onTargets && { onTarget: [...(onTargets.get(place) ?? [])] }),
    ...(byCallers && { byCaller: [...(byCallers.get(place) ?? [])] }),
    requests: requestsOf(content, beside),
    elsewhere: onceEachTarget(
      found[place]!.map((one) => ({
        ...one,
        shared: one.shared.filter((value) => (targetsOf.get(folded(value)) ?? 0) <= ELSEWHERE_MAX),
      })).filter(({ shared }) => shared.length > 0),
    ),
  }))
}

interface Other {
  readonly content: ApprovalRequestContent
  readonly status: 'PENDING' | 'APPROVED' | 'DECLINED'
  readonly reason: string
}

type Elsewhere = Compared['elsewhere'][number]

/** A value as the catalogue stores it. */
const folded = (value: string) => plainText(value.toLowerCase())

/** Time of the last decision on a request, to compare with the state that its approvers saw; null while it is open. ISO 8601 */
function decidedAt(
  { status, approvals, closeBody }: Asked,
  { createdAt }: ApprovalRequestContent,
): string | null {
  if (status === 'PENDING' || status === 'APPROVED') return null
  return closeOf(closeBody)?.closedAt ?? approvals.at(-1)?.approvedAt ?? createdAt
}

const closeOf = (body: string | null) =>
  body === null ? undefined : (JSON.parse(body) as ApprovalRequestClose)

/** A request as it stood at a time, by its own dates: a request that was closed or expired later was open then. Empty if it had ended. */
function standingAt({ body, status, closeBody }: RequestBeside, at: string | null): Other[] {
  const content = JSON.parse(body) as ApprovalRequestContent
  const isLater = (iso: string) => at !== null && Date.parse(iso) > Date.parse(at)
  if (isLater(content.createdAt)) return []
  const close = closeOf(closeBody)
  const wasOpen =
    close === undefined ? status === 'EXPIRED' && isLater(content.expiresAt) : isLater(close.closedAt)
  const then = wasOpen ? 'PENDING' : status
  if (then !== 'PENDING' && then !== 'APPROVED' && then !== 'DECLINED') return []
  return [{ content, status: then, reason: close?.reason ?? '' }]
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
const textOf = (parameters: Readonly<Record<string, unknown>>) => canonicalize(parameters as Json)

function requestsOf(content: ApprovalRequestContent, beside: readonly Other[]): Compared['requests'] {
  const others = beside.filter(
    (other) =>
      other.content.requestId !== content.requestId &&
      other.content.capability === content.capability &&
      other.content.target === content.target,
  )
  const count = (status: Other['status']) => others.filter((other) => other.status === status).length
  const declined = others.find(({ status }) => status === 'DECLINED')
  const text = textOf(content.parameters)
  return {
    same: others.filter(
      ({ status, content: { parameters } }) => status !== 'DECLINED' && textOf(parameters) === text,
    ).length,
    pending: count('PENDING'),
    approved: count('APPROVED'),
    declined: count('DECLINED'),
    ...(declined && { declinedBecause: declined.reason }),
  }
}

/** The parameters that may identify the purpose of a payment, such as the number of an invoice. */
function referencesOf({ parameters }: ApprovalRequestContent): (readonly [string, string])[] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    typeof value === 'string' && value.trim().length >= REFERENCE_MIN ? [[name, value] as const] : [],
  )
}

const numbersOf = (parameters: Readonly<Record<string, unknown>>) =>
  Object.entries(parameters).flatMap(([name, value]) =>
    typeof value === 'number' ? [[name, value] as const] : [],
  )

/** Whether another request asks for the same sum on another target. Without a number there is no sum. */
function isSameElsewhere(
  { capability, target }: ApprovalRequestContent,
  numbers: ReturnType<typeof numbersOf>,
  { content: other }: Other,
): boolean {
  return (
    numbers.length > 0 &&
    numbers.every(([name, value]) => other.parameters[name] === value) &&
    isSame(other.capability, capability) &&
    !isSame(other.target, target)
  )
}

function elsewhere(content: ApprovalRequestContent, { content: other, status }: Other): Elsewhere {
  const { requestId, target, parameters } = other
  return {
    requestId,
    target,
    status,
    shared: referencesOf(content)
      .filter(([name, value]) => parameters[name] === value)
      .map(([, value]) => value),
  }
}

/** Number of targets on which each value found elsewhere is used, in executions and in `found`. */
async function spreadOf(
  sql: Sql,
  policies: readonly string[],
  found: readonly Elsewhere[],
  hasCatalogue: boolean,
): Promise<ReadonlyMap<string, number>> {
  const targets = new Map<string, Set<string>>()
  for (const { target, shared } of found)
    for (const value of shared)
      targets.set(folded(value), (targets.get(folded(value)) ?? new Set()).add(target))
  const values = [...targets.keys()]
  const counted = hasCatalogue ? await countTargetsOf(sql, policies, values) : new Map<string, number>()
  return new Map(values.map((value) => [value, Math.max(counted.get(value) ?? 0, targets.get(value)!.size)]))
}

/** Executions say more than requests, so they come first. */
function onceEachTarget(found: readonly Elsewhere[]): Elsewhere[] {
  return [...new Map(found.toReversed().map((one) => [one.target, one])).values()]
    .toReversed()
    .slice(0, ELSEWHERE_MAX)
}
