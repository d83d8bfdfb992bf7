// The policy versions and changes of them (interface §4.4, decisions §7). Reads answer the versions by which this instance decides, without
// the database.
import { Type } from 'typebox'
import { policyText } from '../../core/policy/text.ts'
import { parseBody, requiredField } from '../../core/json/body.ts'
import { Failure, failures } from '../../core/errors/errors.ts'
import {
  byApproval,
  byNameAndVersion,
  replacedBy,
  standingOf,
  successorOf,
  compileStored,
  documentOf as readDocument,
} from '../../core/policy/versions.ts'
import { PolicyValidity, PolicyVersion } from '../../formats/schemas/error.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { PolicyDetail, PolicyPage, PolicyProposal } from '../../formats/schemas/policy-version.ts'
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import type { StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import { policyChange as change } from '../openapi/examples/changes.ts'
import policyDetail from '../openapi/examples/policy.json' with { type: 'json' }
import { onceFor } from '../kept-document.ts'
import { paging } from '../openapi/parameters.ts'
import { changeRoutes } from './changes.ts'
import { readPage } from './paging.ts'
import { get, json, post, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { People } from '../service.ts'

const { toSend: _toSend, document: exampleDocument, ...summary } = policyDetail

const versionParams = (example: string) => ({
  name: { schema: NonEmptyText, description: 'The policyId.', example: 'sandbox-echo' },
  version: { schema: NonEmptyText, description: 'The policyVersion.', example },
})

const [proposal, ...changes] = changeRoutes({
  kind: 'policy',
  noun: 'a policy',
  name: 'Policy',
  example: change,
  proposal: {
    path: '/policies/{name}/{version}/pending-changes',
    description:
      'Without `proposedContent`, the loaded document of a version that is not yet approved is proposed. An approved version never changes. ' +
      'To retire it, propose `{"action": "retire", "reason": …}`, or propose its successor and name it in `retires`: then both take ' +
      'effect together. A retired version rejects every execution, stays readable, and can never be approved again. A `stepUpAuthorization` is the ' +
      'signature of who proposes it, under exactly this proposal; its audit event keeps it. A session of the console needs one.',
    // From a session, the body must carry a step-up signature, which a session cannot make.
    session: true,
    params: versionParams('1.1.0'),
    schema: PolicyProposal,
    example: { reason: change.pending.reason, proposedContent: change.pending.proposed },
    failures: ['fieldRequired', 'invalidField', 'policyNotFound', 'stepUpInvalid', 'conflict'],
  },
})

/** Lists show members of every document, so each is read once. */
const documentOf = onceFor((row: StoredPolicyVersion) => readDocument(row))

/** Made once for each version. */
const textOf = onceFor((row: StoredPolicyVersion): string => policyText(readDocument(row)))

export const policies = [
  {
    ...post,
    path: '/policies/validate',
    session: true,
    cost: 'compute',
    // The body is two names, and the main thread reads it.
    bodyBytesMax: 16 * 1024,
    operationId: 'validatePolicy',
    tag: 'Policies',
    summary: 'Check that a policy version can be loaded',
    description:
      'Does not validate a document or check approval: unapproved and retired versions can be loaded too. Every answer except the 401 is `{valid, errors}`.',
    body: { schema: PolicyVersion, example: { policyId: 'sandbox-echo', policyVersion: '1.0.0' } },
    answers: {
      200: {
        description: 'The version can be loaded.',
        schema: PolicyValidity,
        example: { valid: true, errors: [] },
      },
    },
    failures: ['fieldRequired', 'policyNotFound', 'internal'],
    failureBody: ({ message }) => JSON.stringify({ valid: false, errors: [message] }),
    handle: validatePolicy,
  },
  {
    ...get,
    path: '/policies',
    operationId: 'listPolicies',
    tag: 'Policies',
    summary: 'Every policy version',
    query: {
      ...paging,
      page: { ...paging.page, description: 'From 1, by name, the highest version first.' },
    },
    answers: {
      200: { description: 'One page.', schema: PolicyPage, example: { policies: [summary] } },
    },
    failures: ['invalidPage', 'invalidPageSize', 'overloaded'],
    async handle({ query }, { authority }) {
      const page = readPage(query)
      if (page instanceof Failure) return page
      const { policies: versions } = authority.current()
      const shown = versions.toSorted(byNameAndVersion).slice(page.offset, page.offset + page.limit)
      return json({ policies: shown.map((row) => summaryOf(row, documentOf(row), versions)) })
    },
  },
  {
    ...get,
    path: '/policies/in-effect',
    operationId: 'listPoliciesInEffect',
    tag: 'Policies',
    summary: 'Approved policy versions',
    description:
      'Retired versions are left out. A version that replaces retired ones lists them in `replaces`; each of them names it in `replacedBy`.',
    query: {
      ...paging,
      capability: { schema: NonEmptyText, description: 'Only versions that govern this action.' },
    },
    answers: {
      200: {
        description: 'One page, the newest approval first.',
        schema: PolicyPage,
        example: { policies: [summary] },
      },
    },
    failures: ['invalidPage', 'invalidPageSize', 'overloaded'],
    async handle({ query }, { authority }) {
      const page = readPage(query)
      if (page instanceof Failure) return page
      const capability = query.get('capability')
      const { policies: versions } = authority.current()
      const listing = versions
        .filter((row) => standingOf(row) === 'APPROVED')
        .toSorted(byApproval)
        .map((row) => ({ row, document: documentOf(row) }))
        .filter(({ document }) => capability === null || document.capabilities.includes(capability))
      const shown = listing.slice(page.offset, page.offset + page.limit)
      return json({ policies: shown.map(({ row, document }) => summaryOf(row, document, versions)) })
    },
  },
  // Must come before {name}/{version}, which fits the path of one change too: the first row that fits is the route.
  ...changes,
  {
    ...get,
    path: '/policies/{name}/{version}',
    operationId: 'getPolicy',
    tag: 'Policies',
    summary: 'One policy version',
    description:
      'The policy document, who approved and who retired the version, and the signals that a caller must send. A retired version stays readable.',
    params: versionParams('1.0.0'),
    answers: {
      200: { description: 'The version and its status.', schema: PolicyDetail, example: policyDetail },
    },
    failures: ['policyNotFound', 'overloaded'],
    async handle({ params: { name = '', version = '' } }, { authority }) {
      const row = findVersion(authority, { name, version })
      if (row === undefined) return failures.policyNotFound({ name, version })
      const document = documentOf(row)
      const { policies: versions } = authority.current()
      return json({ ...summaryOf(row, document, versions), toSend: toSend(document), document })
    },
  },
  {
    ...get,
    path: '/policies/{name}/{version}/policy.yaml',
    operationId: 'getPolicyText',
    tag: 'Policies',
    summary: 'One policy version as YAML',
    description:
      'The document of the version as text to write the next one from, in the order of the handbook. Comments of a file are not stored.',
    params: versionParams('1.0.0'),
    answers: {
      200: {
        description: 'A policy.yaml.',
        schema: Type.String({ description: 'YAML 1.2' }),
        example: policyText(exampleDocument as PolicyDocument),
        contentType: 'application/yaml',
      },
    },
    failures: ['policyNotFound', 'overloaded'],
    async handle({ params: { name = '', version = '' } }, { authority }) {
      const row = findVersion(authority, { name, version })
      if (row === undefined) return failures.policyNotFound({ name, version })
      return { status: 200, headers: { 'Content-Type': 'application/yaml' }, body: textOf(row) }
    },
  },
  proposal,
] as const satisfies readonly Route[]

function summaryOf(
  row: StoredPolicyVersion,
  { description, capabilities }: PolicyDocument,
  versions: readonly StoredPolicyVersion[],
) {
  const { name, version, contentHash, approvedBy, approvedAt, approvedByChange } = row
  const { retiredBy, retiredAt, retiredByChange } = row
  const successor = successorOf(row, versions)
  const replaces = retiredBy === null ? replacedBy(row, versions).map((one) => one.version) : []
  return {
    name,
    version,
    status: standingOf(row),
    contentHash,
    ...(approvedBy === null ? {} : { approvedBy, approvedAt }),
    ...(approvedByChange === null ? {} : { approvedByChange }),
    ...(retiredBy === null ? {} : { retiredBy, retiredAt, retiredByChange }),
    ...(successor === undefined ? {} : { replacedBy: successor.version }),
    ...(replaces.length === 0 ? {} : { replaces }),
    description,
    capabilities,
  }
}

/** The signals that a caller must declare, and what each is compared with. */
function toSend({ signals, bindings, verify }: PolicyDocument) {
  return Object.entries(signals).map(([signal, type]) => {
    const [mustEqual, verified] = [bindings?.[signal], verify?.[signal]]
    return {
      signal,
      type,
      ...(mustEqual === undefined ? {} : { mustEqual }),
      ...(verified === undefined ? {} : { verified }),
    }
  })
}

/** Answers whether a policy version can be loaded. It does not validate a policy document. */
async function validatePolicy(request: RouteRequest, { authority }: People): Promise<Answer | Failure> {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  const policyId = requiredField(body, 'policyId')
  if (policyId instanceof Failure) return policyId
  const policyVersion = requiredField(body, 'policyVersion')
  if (policyVersion instanceof Failure) return policyVersion
  const policy = { name: nameOf(policyId.value), version: nameOf(policyVersion.value) }
  const row = findVersion(authority, policy)
  if (row === undefined || !isLoadable(row)) return failures.policyNotFound(policy)
  return json({ valid: true, errors: [] })
}

/** Only a string can be the name of a policy. `String` could turn another value into one. */
function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function findVersion(authority: People['authority'], { name, version }: { name: string; version: string }) {
  return authority.current().policies.find((row) => row.name === name && row.version === version)
}

/** Compiles the version as the worker threads do. The database may hold a version of another release that this release refuses. */
const isLoadable = onceFor((row: StoredPolicyVersion): boolean => compileStored(row) !== undefined)
