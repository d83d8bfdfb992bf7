// Decides whether a signed approval covers parameters: exactly these, or all within limits (decisions §7 "SignedApproval"). The service
// matches an approval by this same function before an execution, and a verifier after it.
import type { Json } from '../json/canonical.ts'
import { canonicalText } from './evidence.ts'
import { isMembers } from '../json/members.ts'

/**
 * Whether parameters stay within a scope; never throws. A scope with an unknown member covers nothing, because that member may be the
 * restriction.
 * @param scope `{parametersHash}` or `{limits: [{path, max}]}` with at least one limit, or any other JSON
 * @param parameters the intent's parameters, parsed
 */
export function scopeCovers(
  scope: Json | undefined,
  parameters: Json | undefined,
  sha256Hex: (text: string) => string,
): boolean {
  if (!isMembers(scope) || !isMembers(parameters)) return false
  if (hasExactly(scope, ['parametersHash'])) {
    const text = canonicalText(parameters)
    return text !== undefined && sha256Hex(text) === scope['parametersHash']
  }
  if (!hasExactly(scope, ['limits'])) return false
  const { limits } = scope
  return (
    Array.isArray(limits) &&
    limits.length > 0 &&
    (limits as readonly Json[]).every((limit) => isWithin(limit, parameters))
  )
}

function isWithin(limit: Json, parameters: Json): boolean {
  if (!isMembers(limit) || !hasExactly(limit, ['max', 'path'])) return false
  const { path, max } = limit
  if (typeof path !== 'string' || typeof max !== 'number' || !Number.isFinite(max)) return false
  const value = valueAt(parameters, path)
  // A text that looks like a number is refused: connectors read such texts in different ways.
  return typeof value === 'number' && Number.isFinite(value) && value <= max
}

const PREFIX = 'intent.parameters.'

/** A member by its path, `invoice.total`. Only own members of objects: lists are not entered, and inherited members do not count. */
function valueAt(parameters: Json, path: string): Json | undefined {
  const names = (path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path).split('.')
  return names.reduce<Json | undefined>(
    (value, name) => (isMembers(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    parameters,
  )
}

function hasExactly(value: object, names: readonly string[]): boolean {
  const own = Object.keys(value)
  return own.length === names.length && names.every((name) => own.includes(name))
}
