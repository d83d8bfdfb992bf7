// Finds the objects that a text names: by any id, action code, capability, caller, approver or policy. A single hit opens at once.
import type { Static } from 'typebox'
import type { CataloguePage } from '../../formats/schemas/catalogue.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { actionCodeIn } from '../../formats/approval-requests/action-code.ts'
import { counted } from '../../formats/text/text.ts'
import { ApiProblem, get } from '../api.ts'
import { Empty, NotLoaded, Panel, Said } from '../components/basic.tsx'
import { changePaths } from '../components/changes.tsx'
import { allVersions, policyPath } from '../components/policy.tsx'
import { useFound } from '../hooks.ts'
import { navigate } from '../router.ts'
import { shownSummary } from '../text.ts'
import type { PageProps } from '../page.ts'

export interface Hit {
  readonly what: string
  readonly href: string
}

type Look = <T>(path: string) => Promise<T | undefined>

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function Search({ query }: PageProps) {
  const wanted = (query.get('q') ?? '').trim()
  const { found, problem } = useFound(async (signal) => {
    const hits = wanted === '' ? [] : await lookFor(wanted, signal)
    const [only, ...others] = hits
    if (only !== undefined && others.length === 0) navigate(only.href, { replace: true })
    return hits
  }, wanted)
  return (
    <>
      <h1>Search</h1>
      {found === undefined ? <NotLoaded problem={problem} /> : <Hits wanted={wanted} hits={found} />}
    </>
  )
}

function lookUntil(signal: AbortSignal): Look {
  return async <T,>(path: string) => {
    try {
      return (await get<T>(path, { signal })).data
    } catch (error) {
      // The object does not exist, or this session may not read it.
      if (error instanceof ApiProblem && [400, 403, 404].includes(error.status)) return undefined
      throw error
    }
  }
}

function Hits({ wanted, hits }: { readonly wanted: string; readonly hits: readonly Hit[] }) {
  if (hits.length === 0)
    return (
      <Empty>
        {wanted === '' ? null : (
          <>
            Nothing is named <Said text={wanted} />.{' '}
          </>
        )}
        Search for an id (of an execution, request, change, used approval or delivery), an action code, a
        capability such as <code>vendor:pay</code>, a caller, an approver or a policy, an amount as it is
        shown, or for a part of a target or of a parameter.
      </Empty>
    )
  return (
    <Panel title={`${counted(hits.length, 'place')} for this name`}>
      <ul class="plain">
        {hits.map(({ what, href }) => (
          <li key={href}>
            <a href={href} data-row>
              <Said text={what} />
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/**
 * Finds objects by id, by action code or by their whole name; where there are none, it finds objects that contain the text. The search page and
 * the palette find the same.
 * @throws as `get`
 */
export async function lookFor(wanted: string, signal: AbortSignal): Promise<readonly Hit[]> {
  const look = lookUntil(signal)
  if (UUID.test(wanted)) return byId(wanted.toLowerCase(), look)
  const code = actionCodeIn(wanted)
  // A name may look like a code without its hyphens: then both are found.
  // The slowest search starts first.
  const [parts, byCode, named] = await Promise.all([
    byPart(wanted, look),
    code === undefined ? [] : byActionCode(code, look),
    byName(wanted, look, signal),
  ])
  const found = [...byCode, ...named]
  return found.length > 0 ? found : parts
}

/** The catalogue searches for no shorter text, and for no longer text. */
const [PART_MIN, PART_MAX] = [3, 100]

/** Finds objects that contain the text, in the catalogue. */
async function byPart(text: string, look: Look): Promise<readonly Hit[]> {
  if (text.length < PART_MIN || text.length > PART_MAX) return []
  const found = await look<Found>(`/search?${new URLSearchParams({ q: text })}`)
  if (found === undefined) return []
  return [
    ...found.targets.map((target) => ({
      what: `Executions on ${target}`,
      href: `/console/executions?${of('target', target)}`,
    })),
    ...found.callers.map((callerId) => ({
      what: `Executions by ${callerId}`,
      href: `/console/executions?${of('callerId', callerId)}`,
    })),
    ...found.policies.map((name) => ({
      what: `Executions under policy ${name}`,
      href: `/console/executions?${of('policy', name)}`,
    })),
    ...found.requests.map((one) => ({
      what: `Request of ${one.requestedBy}: ${shownSummary(one.summary, one.amount)}`,
      href: `/console/requests/${one.requestId}`,
    })),
    ...found.executions.map(({ businessTransactionId: id, status, summary, amount, capability, target }) => ({
      what: `Execution: ${summary === undefined ? `${capability} → ${target}` : shownSummary(summary, amount)}`,
      href: `/console/${status === 'refused' ? 'refusals' : 'executions'}/${id}`,
    })),
  ]
}

/** The reply of GET /search. */
interface Found {
  readonly targets: readonly string[]
  readonly callers: readonly string[]
  readonly policies: readonly string[]
  readonly requests: readonly {
    readonly requestId: string
    readonly requestedBy: string
    readonly summary: string
    readonly amount?: number
  }[]
  readonly executions: Static<typeof CataloguePage>['executions']
}

async function byId(id: string, look: Look): Promise<readonly Hit[]> {
  const places: readonly (readonly [path: string, hit: Hit])[] = [
    [`/transactions/${id}`, { what: 'The execution', href: `/console/executions/${id}` }],
    [`/approval-requests/${id}`, { what: 'The approval request', href: `/console/requests/${id}` }],
    [`/webhook-events/${id}`, { what: 'The delivery', href: `/console/deliveries/${id}` }],
    ...Object.entries(changePaths).map(
      ([kind, path]) =>
        [`${path}/${id}`, { what: 'The change', href: `/console/changes/${kind}/${id}` }] as const,
    ),
  ]
  const found = await Promise.all(
    places.map(async ([path, hit]) => ((await look(path)) === undefined ? [] : [hit])),
  )
  return [...found.flat(), ...(await byApproval(id, look))]
}

/** An approval that was used leads to its execution. */
async function byApproval(id: string, look: Look): Promise<readonly Hit[]> {
  const { consumedBy } = (await look<{ consumedBy?: string }>(`/approvals/${id}`)) ?? {}
  if (consumedBy === undefined) return []
  return [{ what: 'The execution that used this approval', href: `/console/executions/${consumedBy}` }]
}

/** Looks through the newest hundred requests: the code is not stored, because readers compute it. */
async function byActionCode(code: string, look: Look): Promise<readonly Hit[]> {
  const page = await look<{ requests: ApprovalRequest[] }>('/approval-requests?pageSize=100')
  return (page?.requests ?? [])
    .filter(({ actionCode }) => actionCode === code)
    .map(({ request, status }) => ({
      what: `Request of ${request.requestedBy}: ${request.capability} → ${request.target}, ${status.toLowerCase()}`,
      href: `/console/requests/${request.requestId}`,
    }))
}

const policyHit = (why: string) => (policy: { name: string; version: string }) => ({
  what: `${why} ${policy.name} ${policy.version}`,
  href: `/console${policyPath(policy)}`,
})

async function byName(name: string, look: Look, signal: AbortSignal): Promise<readonly Hit[]> {
  const [submitted, policies, governing, approvers] = await Promise.all([
    look<unknown[]>(`/transactions?${new URLSearchParams({ callerId: name, pageSize: '1' })}`),
    allVersions(signal),
    look<{ policies: { name: string; version: string }[] }>(
      `/policies/in-effect?${new URLSearchParams({ capability: name })}`,
    ),
    look<{ approvers: { approverId: string }[] }>('/approvers'),
  ])
  const governs = governing?.policies ?? []
  return [
    ...(submitted?.length
      ? [{ what: `Executions by ${name}`, href: `/console/executions?${of('callerId', name)}` }]
      : []),
    ...(governs.length > 0
      ? [{ what: `Executions of ${name}`, href: `/console/executions?${of('capability', name)}` }]
      : []),
    ...governs.map(policyHit('Governed by policy')),
    ...policies.filter((policy) => policy.name === name).map(policyHit('Policy')),
    ...(approvers?.approvers.some(({ approverId }) => approverId === name)
      ? [
          { what: `Requests that ${name} signed`, href: `/console/requests?${of('signedBy', name)}` },
          { what: `Keys of approver ${name}`, href: '/console/approvers' },
        ]
      : []),
  ]
}

function of(filter: string, value: string): string {
  return new URLSearchParams({ [filter]: value }).toString()
}
