// POST /policies/validate (interface §4.4): whether a policy version can be loaded. It does not validate a policy document.
import { parseBody, requiredField } from '../body.ts'
import { Failure, failures } from '../errors.ts'
import { compilePolicy } from '../policy/check.ts'
import { readPolicyContent } from '../tables/policy-versions.ts'
import { json, type Handler } from './route.ts'

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
