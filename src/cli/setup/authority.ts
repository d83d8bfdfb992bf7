// The changes of a trial's setup, made like all others: one human proposes, another one signs exactly that change and approves it
// (decisions §7).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changePaths } from '../../formats/change-paths.ts'
import type { ChangeKindName } from '../../formats/schemas/governance.ts'
import { openChange, stepUpFor } from '../approver.ts'
import { get, jsonOf, post } from '../service.ts'
import { APPROVER, APPROVER_KEY, type Person } from './people.ts'

interface Registered {
  readonly capability: string
  readonly policy: string
  readonly allowedParameters: readonly string[]
  readonly reason: string
}

export const PAYMENTS: Registered = {
  capability: 'vendor:pay',
  policy: 'vendor-payment',
  allowedParameters: ['amount', 'currency', 'invoice'],
  reason: 'Payments of this trial go to the example receiver.',
}

export const TOOLS: Registered = {
  capability: 'llm:call-tool',
  policy: 'llm-tool-call',
  allowedParameters: ['cost', 'query', 'document', 'expression', 'title', 'text', 'to', 'subject'],
  reason: 'Tools that a model of this trial asks for are run by the example.',
}

/** A human of a trial: the key of a caller and the key that signs for changes. */
type Governor = Pick<Person, 'rawKey' | 'stepUp'>

interface TwoHumans {
  readonly proposer: Governor
  readonly checker: Governor
}

/** @throws Error where somebody's signature counts already: then this is no new trial */
export async function requireNobody(url: string, human: Person): Promise<void> {
  const answer = await get({ url, key: human.rawKey }, '/approvers')
  const { approvers } = jsonOf(answer) as { approvers: { approverId: string }[] }
  if (approvers.length > 0)
    throw new Error(
      `The database has approvers already: ${approvers.map(({ approverId }) => approverId).join(', ')}. There are no new humans. ${BEGIN_ANEW}`,
    )
}

/** The way out where the humans of a trial cannot be used any more. */
export const BEGIN_ANEW =
  'To begin anew, set DATA_DIR to another folder (or --own-database: DATABASE_URL to an empty database), for this command and for the start.'

interface Connector {
  readonly endpointUrl: string
  readonly what: Registered
}

/**
 * @returns the connectors that are not registered yet; an earlier attempt may have registered some
 * @throws Error where an action has another connector: a trial does not replace a decision of governance
 */
export async function missingConnectors(
  url: string,
  human: Person,
  wanted: readonly Connector[],
): Promise<readonly Connector[]> {
  const { externalConnectors: registered } = jsonOf(
    await get({ url, key: human.rawKey }, '/external-connectors'),
  ) as { externalConnectors: { capability: string; endpointUrl: string }[] }
  return wanted.filter(({ endpointUrl, what: { capability } }) => {
    const there = registered.find((one) => one.capability === capability)
    if (there !== undefined && there.endpointUrl !== endpointUrl)
      throw new Error(
        `${capability} goes to ${there.endpointUrl} already, by a connector that governance has registered. There are no new humans. Name its address by --connector (vendor:pay) or --tools (llm:call-tool). ${BEGIN_ANEW}`,
      )
    return there === undefined
  })
}

/** @param given.folder with the approver's key */
export function enrolApprover(url: string, given: TwoHumans & { readonly folder: string }): Promise<void> {
  const publicKeyPem = readFileSync(join(given.folder, APPROVER_KEY), 'utf8')
  const reason = 'Dana approves the payments of this trial.'
  return decide(url, '/approvers/changes', given, { action: 'add', ...APPROVER, publicKeyPem, reason })
}

export function registerConnector(url: string, given: TwoHumans & Connector): Promise<void> {
  const { endpointUrl, what } = given
  return decide(url, '/external-connectors/changes', given, { action: 'register', endpointUrl, ...what })
}

/** Has one human propose a change, and the other one sign and approve exactly that change. */
export async function decide(
  url: string,
  path: string,
  { proposer, checker }: TwoHumans,
  proposal: object,
): Promise<void> {
  const proposed = await post({ url, key: proposer.rawKey }, path, { json: proposal, accept: [201] })
  const { changeId } = openChange(jsonOf(proposed))
  // A policy is proposed under its own address, and resolved where all changes of policies are.
  const { kind } = jsonOf(proposed) as { kind: ChangeKindName }
  const resolvedAt = `${changePaths[kind]}/${changeId}`
  const asChecker = { url, key: checker.rawKey }
  const change = openChange(jsonOf(await get(asChecker, resolvedAt)))
  const stepUpAuthorization = stepUpFor(change, { action: 'approve', key: checker.stepUp, now: new Date() })
  await post(asChecker, `${resolvedAt}/approve`, { json: { stepUpAuthorization } })
}
