// The policy versions, for any caller (interface §4.4, decisions §7). What is in effect is answered from what this instance works by.
import { parseBody, requiredField } from '../../core/json/body.ts'
import { Failure, failures } from '../../core/errors.ts'
import { byApproval, byNameAndVersion } from '../../core/policy/order.ts'
import { compileStored, documentOf } from '../../core/policy/stored.ts'
import type { PolicyDocument } from '../../core/schemas/policy.ts'
import type { StoredPolicyVersion } from '../../core/tables/policy-versions.ts'
import { readPage } from './paging.ts'
import { json, type Handler, type Service } from './route.ts'

export const policies: Handler = ({ query }, { authority }) => {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const versions = authority.current().policies.toSorted(byNameAndVersion)
  const shown = versions.slice(page.offset, page.offset + page.limit)
  return json({ policies: shown.map((row) => summaryOf(row, documentOf(row))) })
}

export const policiesInEffect: Handler = ({ query }, { authority }) => {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const capability = query.get('capability')
  const listing = authority
    .current()
    .policies.filter(({ approvedBy }) => approvedBy !== null)
    .toSorted(byApproval)
    .map((row) => summaryOf(row, documentOf(row)))
    .filter(({ capabilities }) => capability === null || capabilities.includes(capability))
  return json({ policies: listing.slice(page.offset, page.offset + page.limit) })
}

export const showPolicy: Handler = ({ params: { name = '', version = '' } }, { authority }) => {
  const row = findVersion(authority, { name, version })
  if (row === undefined) return failures.policyNotFound({ name, version })
  const document = documentOf(row)
  return json({ ...summaryOf(row, document), toSend: toSend(document), document })
}

function summaryOf(row: StoredPolicyVersion, { description, capabilities }: PolicyDocument) {
  const { name, version, contentHash, approvedBy, approvedAt, approvedByChange } = row
  return {
    name,
    version,
    status: approvedBy === null ? 'LOADED' : 'APPROVED',
    contentHash,
    ...(approvedBy === null ? {} : { approvedBy, approvedAt }),
    ...(approvedByChange === null ? {} : { approvedByChange }),
    description,
    capabilities,
  }
}

/** The signals that a caller must declare, and what each will be held against. */
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

/** Whether a policy version can be loaded. It does not validate a policy document. */
export const validatePolicy: Handler = (request, { authority }) => {
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

/** What is no text is the name of no policy, whatever `String` would make of it. */
function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function findVersion(authority: Service['authority'], { name, version }: { name: string; version: string }) {
  return authority.current().policies.find((row) => row.name === name && row.version === version)
}

/** Of each version that was asked for: this thread compiles it once. */
const loadable = new WeakMap<StoredPolicyVersion, boolean>()

/** As the worker threads load it; the database may hold a version of another release that this one refuses. */
function isLoadable(row: StoredPolicyVersion): boolean {
  const isKnown = loadable.get(row) ?? compileStored(row) !== undefined
  loadable.set(row, isKnown)
  return isKnown
}
