// A policy version as the database holds it, read: its document, and what it compiles to.
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { PolicyVersionRow } from '../../store/tables/policy-versions.ts'
import { compilePolicy, type CompiledPolicy } from './check.ts'
import { DocumentError } from '../cel/mistakes.ts'

/** A stored version was compiled before. */
export function documentOf({ content }: Pick<PolicyVersionRow, 'content'>): PolicyDocument {
  return JSON.parse(content) as PolicyDocument
}

/** Undefined: written by another release, in words that this one does not know. Nothing is executed under it here. */
export function compileStored({
  name,
  version,
  content,
}: Pick<PolicyVersionRow, 'name' | 'version' | 'content'>): CompiledPolicy | undefined {
  try {
    return compilePolicy(JSON.parse(content), `${name}/${version}`, { isStored: true }).policy
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}
