// Every page of the console, in the order of the navigation. The first row that fits a URL is its page.
import type { ComponentType } from 'preact'
import type { PageProps } from '../page.ts'
import { Caller, Target } from './activity.tsx'
import { Audit } from './audit.tsx'
import { Approvers } from './approvers.tsx'
import { Change, Changes } from './changes.tsx'
import { Deliveries, Delivery } from './deliveries.tsx'
import { Endpoint } from './endpoint.tsx'
import { Execution } from './execution.tsx'
import { Executions } from './executions.tsx'
import { InDoubt } from './in-doubt.tsx'
import { Inbox } from './inbox.tsx'
import { Overview } from './overview.tsx'
import { MakePasskey } from './passkey.tsx'
import { Policies, Policy } from './policies.tsx'
import { ProposePolicy } from './propose-policy.tsx'
import { Refusal, Refusals } from './refusals.tsx'
import { Request } from './request.tsx'
import { Requests } from './requests.tsx'
import { Search } from './search.tsx'
import { Targets } from './targets.tsx'

interface Page {
  /** With `{name}` for a parameter. */
  readonly path: string
  readonly title: string
  readonly group?: (typeof groups)[number]
  /** Its name in the navigation; undefined: another page leads there. */
  readonly nav?: string
  /** The path of the page that the navigation marks in its place, where its own path is not below that path. */
  readonly under?: string
  /** The palette lists the page, although the navigation does not. */
  readonly inPalette?: true
  /** The key that opens the page after `g`. */
  readonly goes?: string
  readonly view: ComponentType<PageProps>
  /** The page shows the last object until the next object is loaded, in the place of an empty page. */
  readonly keepsLast?: true
}

/** The groups of the navigation, in its order. */
export const groups = ['Work', 'Evidence', 'Governance', 'System'] as const

export const pages: readonly Page[] = [
  { path: '/console', title: 'Overview', group: 'Work', nav: 'Overview', goes: 'v', view: Overview },
  { path: '/console/inbox', title: 'Inbox', group: 'Work', nav: 'Inbox', goes: 'i', view: Inbox },
  {
    path: '/console/requests',
    title: 'Approval requests',
    group: 'Work',
    nav: 'Requests',
    goes: 'r',
    view: Requests,
  },
  { path: '/console/requests/{id}', title: 'Approval request', view: Request, keepsLast: true },
  { path: '/console/changes', title: 'Changes', group: 'Work', nav: 'Changes', goes: 'c', view: Changes },
  { path: '/console/changes/{kind}/{id}', title: 'Change', view: Change },
  { path: '/console/in-doubt', title: 'In doubt', group: 'Work', nav: 'In doubt', goes: 'o', view: InDoubt },
  {
    path: '/console/executions',
    title: 'Executions',
    group: 'Evidence',
    nav: 'Executions',
    goes: 'e',
    view: Executions,
  },
  { path: '/console/executions/{id}', title: 'Execution', view: Execution },
  {
    path: '/console/refusals',
    title: 'Refusals',
    group: 'Evidence',
    nav: 'Refusals',
    goes: 'f',
    view: Refusals,
  },
  { path: '/console/refusals/{id}', title: 'Refusal', view: Refusal },
  { path: '/console/targets', title: 'Targets', group: 'Evidence', nav: 'Targets', goes: 't', view: Targets },
  {
    path: '/console/policies',
    title: 'Policies',
    group: 'Governance',
    nav: 'Policies',
    goes: 'p',
    view: Policies,
  },
  {
    path: '/console/policies/propose',
    title: 'Propose a policy version',
    group: 'Governance',
    inPalette: true,
    view: ProposePolicy,
  },
  { path: '/console/policies/{name}/{version}', title: 'Policy', view: Policy },
  {
    path: '/console/approvers',
    title: 'Approvers and keys',
    group: 'Governance',
    nav: 'Approvers',
    goes: 'a',
    view: Approvers,
  },
  { path: '/console/passkey', title: 'Passkeys of yours', view: MakePasskey },
  {
    path: '/console/deliveries',
    title: 'Deliveries',
    group: 'System',
    nav: 'Deliveries',
    goes: 'd',
    view: Deliveries,
  },
  { path: '/console/deliveries/{id}', title: 'Delivery', group: 'System', view: Delivery },
  {
    path: '/console/endpoints/{id}',
    title: 'Event endpoint',
    group: 'System',
    under: '/console/deliveries',
    view: Endpoint,
  },
  { path: '/console/audit', title: 'Audit', group: 'Evidence', nav: 'Audit', goes: 'u', view: Audit },
  { path: '/console/callers/{id}', title: 'Caller', group: 'Evidence', view: Caller },
  { path: '/console/targets/{name}', title: 'Target', group: 'Evidence', view: Target },
  { path: '/console/search', title: 'Search', view: Search },
]
