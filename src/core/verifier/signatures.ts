// Which signatures evidence must carry, so that none can be stripped or put in another's place (decisions §4 "Receipt").
import type { Json } from '../json/canonical.ts'
import { list, members, string } from './evidence.ts'
import type { CarriedSignature, Members } from './evidence.ts'

/** fails when one of the three members is no string */
export function carriedSignature(value: Json | undefined): CarriedSignature {
  const { algorithm, keyId, value: bytes } = members(value)
  return { algorithm: string(algorithm), keyId: string(keyId), value: string(bytes) }
}

/**
 * The signatures that must all hold: the one, or exactly one for each required algorithm of a hybrid record or receipt.
 * in    first  the evidence's `signature`
 * fails when one is missing, is too many or stands where another belongs
 */
export function requiredSignatures(evidence: Members, first: CarriedSignature): readonly CarriedSignature[] {
  if (!('requiredAlgorithms' in evidence)) {
    if ('signatures' in evidence) throw new Error('signatures that nothing requires')
    return [first]
  }
  const required = list(evidence['requiredAlgorithms']).map(string)
  const carried = list(evidence['signatures']).map(carriedSignature)
  const complete =
    required.length > 1 &&
    new Set(required).size === required.length &&
    carried.length === required.length &&
    carried.every((one, i) => one.algorithm === required[i])
  if (!complete) throw new Error('a required signature is missing')
  // `signature` repeats the first of them, for readers that know one algorithm only: it must not be another one.
  if (
    first.algorithm !== carried[0]?.algorithm ||
    first.keyId !== carried[0].keyId ||
    first.value !== carried[0].value
  ) {
    throw new Error('signature is not the first of signatures')
  }
  return carried
}
