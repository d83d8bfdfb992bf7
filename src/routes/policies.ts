// The policy versions, for any caller (interface §4.4, decisions §7). What is in effect is answered from what this instance works by.
import { parseBody, requiredField } from '../body.ts'
import { Failure, failures } from '../errors.ts'
import { compilePolicy } from '../policy/check.ts'
import { byApproval, byNameAndVersion } from '../policy/order.ts'
import type { PolicyDocument } from '../schemas/policy.ts'
import { readPolicyContent, type StoredPolicyVersion } from '../tables/policy-versions.ts'
import { listChanges, proposeChange, resolveChange, showChange } from './governance.ts'
import { readPage } from './paging.ts'
import { json, type Handler } from './route.ts'

export const proposePolicy = proposeChange('policy')
export const policyChanges = listChanges('policy')
export const policyChange = showChange('policy')
export const approvePolicy = resolveChange('policy', 'approve')
export const rejectPolicy = resolveChange('policy', 'reject')

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
  const row = authority.current().policies.find((known) => known.name === name && known.version === version)
  if (row === undefined) return failures.policyNotFound({ name, version })
  const document = documentOf(row)
  return json({ ...summaryOf(row, document), toSend: toSend(document), document })
}

/** What is stored was compiled before. */
function documentOf({ content }: StoredPolicyVersion): PolicyDocument {
  return JSON.parse(content) as PolicyDocument
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
export const validatePolicy: Handler = async (request, { pool }) => {
  const body = parseBody(request.body)
  if (body instanceof Failure) return body
  const policyId = requiredField(body, 'policyId')
  if (policyId instanceof Failure) return policyId
  const policyVersion = requiredField(body, 'policyVersion')
  if (policyVersion instanceof Failure) return policyVersion
  const policy = { name: nameOf(policyId.value), version: nameOf(policyVersion.value) }
  // No PostgreSQL text holds a NUL, so no version has one in its name.
  if (`${policy.name}${policy.version}`.includes('\0')) return failures.policyNotFound(policy)
  const content = await readPolicyContent(pool, policy)
  if (content === null || !isLoadable(content, policy)) return failures.policyNotFound(policy)
  return json({ valid: true, errors: [] })
}

/** What is no text is the name of no policy, whatever `String` would make of it. */
function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** As the worker threads load it; the database may hold a version of an older release that this one refuses. */
function isLoadable(content: string, { name, version }: { name: string; version: string }): boolean {
  try {
    compilePolicy(JSON.parse(content), `${name}/${version}`)
    return true
  } catch {
    return false
  }
}
