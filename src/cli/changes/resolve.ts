// countersign changes list, show, approve, reject: show a change that another human proposes, and sign exactly the shown
// change (decisions §7). The hash is computed here from the shown change: a service that shows another one gets no signature.
import { readFileSync } from 'node:fs'
import { changePaths } from '../../formats/change-paths.ts'
import { changeTitle, consequencesOf, diffLines, endingVersions } from '../../formats/change-text.ts'
import { shownOf } from '../../formats/artifacts/governance-change.ts'
import { canonicalize } from '../../formats/json/canonical.ts'
import type { Members } from '../../formats/json/members.ts'
import { ApprovalRequestPage } from '../../formats/schemas/approval-request.ts'
import { Change, ChangePage } from '../../formats/schemas/governance.ts'
import type { ImpactReport } from '../../formats/schemas/impact-report.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { printable } from '../../formats/text/printable.ts'
import { endingWith } from '../../core/policy/ending.ts'
import { shapeOf } from '../../core/json/shape.ts'
import { ed25519SigningKey } from '../../core/signing/keys.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { openChange, show, stepUpFor } from '../approver.ts'
import type { Given } from '../command.ts'
import { isConfirmed } from '../confirm.ts'
import { policyDocuments } from '../policy-documents.ts'
import { serviceOf, stepUpKeyOf } from '../profile.ts'
import { get, jsonOf, pagesOf, post, shapedAnswer, type ServiceAt } from '../service.ts'
import { impactOf, type PolicyChange } from '../simulate.ts'
import type * as commands from './commands.ts'

/** More findings than a person reads before a question; `--all` shows the others. */
const FINDINGS_SHOWN_MAX = 10
const IMPACT_MS = 30 * 86_400_000

const changeShape = shapeOf(Change)
const changePage = shapeOf(ChangePage)
const requestPage = shapeOf(ApprovalRequestPage)

/** Prints a line for each change. The key is that of a human or of an auditor. */
export async function listChanges({
  kind,
  status = 'PENDING_APPROVAL',
  all,
  ...given
}: Given<typeof commands.list>): Promise<void> {
  const query = new URLSearchParams({ pageSize: '100', ...(!all && { status }), ...(kind && { kind }) })
  let count = 0
  for await (const answer of pagesOf(serviceOf(given), `/changes?${query}`))
    for (const change of shapedAnswer(changePage, answer).changes) {
      const { proposedAt, changeId, proposedBy, reason } = change
      const parts = [proposedAt, changeId, changeTitle(change), ...(all ? [change.status] : [])]
      console.log(printable([...parts, proposedBy, reason].join('  ')))
      count++
    }
  if (count === 0) console.error(all || status !== 'PENDING_APPROVAL' ? 'There is none.' : 'Nothing waits.')
}

/** Prints a change for a person, or as the service answers it. */
export async function showChange({ id, json, ...given }: Given<typeof commands.show>): Promise<void> {
  const { change, text } = await findChange(serviceOf(given), id)
  if (json) {
    console.log(text)
    return
  }
  const lines = [...linesOf(change), '', 'Proposed, whole', ...jsonLines(change.proposed)]
  for (const line of lines) console.log(printable(line))
}

/**
 * Shows a change with its consequences, asks, and delivers the approval.
 * @returns the exit code: 1 where it was not signed
 * @throws Error with a sentence where the change cannot be signed, or the service refuses the step-up
 */
export async function approveChange({
  id,
  since = new Date(Date.now() - IMPACT_MS).toISOString(),
  withoutImpact,
  all,
  ...given
}: Given<typeof commands.approve>): Promise<0 | 1> {
  return resolveChange(given, { id, action: 'approve' }, async (change, service) => {
    await showEndingRequests(change, service)
    return change.kind === 'policy' && !withoutImpact
      ? showImpact(change, { ...service, since, all })
      : undefined
  })
}

/** Shows a change, asks, and delivers the rejection. Returns and throws as `approveChange`. */
export async function rejectChange({
  id,
  reason: rejectionReason,
  ...given
}: Given<typeof commands.reject>): Promise<0 | 1> {
  return resolveChange(given, { id, action: 'reject', rejectionReason })
}

interface Resolution {
  readonly id: string
  readonly action: 'approve' | 'reject'
  readonly rejectionReason?: string
}

/** @param showMore shows the consequences, before the question; the step-up covers the report that it returns */
async function resolveChange(
  given: Pick<Given<typeof commands.reject>, 'profile' | 'url' | 'apiKey' | 'key' | 'keyId'>,
  { id, action, rejectionReason }: Resolution,
  showMore?: (change: Change, service: ServiceAt) => Promise<ImpactReport | undefined>,
): Promise<0 | 1> {
  const service = serviceOf(given)
  const key = ed25519SigningKey(given.keyId, readFileSync(stepUpKeyOf(given), 'utf8'))
  const { change } = await findChange(service, id)
  const shown = openChange(change)
  await requireOther(service, change)
  console.error(printable(`${change.proposedBy} proposes:`))
  console.error(`\n  ${printable(changeTitle(change))}\n`)
  show(`You ${action}, by this signature, this change:`, shownOf(shown))
  console.error(['', ...linesOf(change)].map(printable).join('\n'))
  const impactReport = await showMore?.(change, service)
  if (!(await isConfirmed(`\nSign it, to ${action} the change? [y/N] `))) {
    console.error('Nothing was signed. The change stays open.')
    return 1
  }
  const impactHash = impactReport === undefined ? undefined : sha256Hex(canonicalize(impactReport))
  const stepUpAuthorization = stepUpFor(shown, { action, key, now: new Date(), impactHash })
  const json = { stepUpAuthorization, rejectionReason, impactReport }
  const answer = await post(service, `${changePaths[change.kind]}/${change.changeId}/${action}`, { json })
  console.log(answer.body.toString())
  console.error(`Signed and delivered: the change is ${action === 'approve' ? 'approved' : 'rejected'}.`)
  return 0
}

/** Tries the route of each kind, because the kind is not known beforehand. */
async function findChange(service: ServiceAt, id: string): Promise<{ change: Change; text: string }> {
  if (!isUuid(id)) throw new Error('The id must be that of a change, a UUID.')
  for (const path of Object.values(changePaths)) {
    const answer = await get(service, `${path}/${id.toLowerCase()}`, { accept: [404] })
    if (answer.status === 404) continue
    const change = shapedAnswer(changeShape, answer)
    if (change.changeId !== id.toLowerCase())
      throw new Error('The service answers another change than the one of this id. Nothing was signed.')
    return { change, text: answer.body.toString() }
  }
  throw new Error(`There is no change with the id ${id}: \`countersign changes list --all\` lists them.`)
}

/** The service refuses the proposer, and every caller who is the same person. The proposer is told before anything is shown. */
async function requireOther(service: ServiceAt, { proposedBy }: Change): Promise<void> {
  const { callerId } = jsonOf(await get(service, '/callers/me')) as { callerId?: unknown }
  if (callerId === proposedBy)
    throw new Error(
      'You proposed this change, so another human must approve or reject it. Nothing was signed.',
    )
}

function linesOf(change: Change): string[] {
  const { changeId, status, proposedBy, proposedAt, reason, changeHash, diff, warnings } = change
  const { resolvedBy, resolvedAt, rejectionReason } = change
  return [
    changeTitle(change),
    `  change    ${changeId}, ${status}`,
    `  hash      ${changeHash}`,
    `  proposed  by ${proposedBy} at ${proposedAt}: ${reason}`,
    ...(resolvedBy === undefined
      ? []
      : [`  resolved  by ${resolvedBy} at ${resolvedAt}${rejectionReason ? `: ${rejectionReason}` : ''}`]),
    ...(diff === undefined ? [] : section(`Differences from ${String(diff['against'])}`, diffLines(diff))),
    ...section('Warnings of the service', warnings),
    ...(status === 'PENDING_APPROVAL' ? section('From its approval on', consequencesOf(change)) : []),
  ]
}

/** Nothing where there are no lines. */
const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]

function jsonLines(value: Change['proposed']): string[] {
  return JSON.stringify(value as Members, undefined, 2)
    .split('\n')
    .map((line) => `  ${line}`)
}

/** Says how many open approval requests end with each version that a change ends, as the console does. */
async function showEndingRequests(change: Change, service: ServiceAt): Promise<void> {
  const [name = ''] = change.target.split('/')
  const reads = {
    async page(path: string) {
      const answer = await get(service, path)
      return { requests: shapedAnswer(requestPage, answer).requests, next: answer.next }
    },
    document: policyDocuments(service),
  }
  for (const version of endingVersions(change))
    console.error(`  ${printable((await endingWith({ name, version }, reads)).text)}`)
}

/** Simulates the change of a policy, and shows the newest findings, or all of them, and the sums. */
async function showImpact(
  change: Change,
  simulating: ServiceAt & { readonly since: string; readonly all: boolean },
): Promise<ImpactReport> {
  const max = simulating.all ? Infinity : FINDINGS_SHOWN_MAX
  console.error('')
  console.error(printable(`Past decisions since ${simulating.since}, decided again`))
  let found = 0
  const report = await impactOf(change as unknown as PolicyChange, simulating, {
    finding(line) {
      if (++found <= max) console.error(`  ${line}`)
    },
    summary: (line) => console.error(`  ${line}`),
  })
  if (found > max)
    console.error(
      `  ${found - max} more ${found - max === 1 ? 'decision is' : 'decisions are'} not listed here: answer N and give --all to see all of them.`,
    )
  console.error('  Your signature covers this report too.')
  return report
}
