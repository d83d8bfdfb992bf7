// A forger does this to the two signatures of a hybrid record or receipt (decisions §4 "Receipt"): none may be stripped.
import { change, drop, put, type Json, type Members } from './edit.ts'
import { keys } from './keys.ts'

interface Tampering {
  readonly id: string
  readonly what: string
  readonly evidence: Members
  /** `signed members`: the hash is another too. */
  readonly kind: 'signatures' | 'signed members'
}

/** @param value the path of the base64 of the evidence's first signature */
export function hybridTampering(hybrid: Members, value: 'signature' | 'signature.value'): Tampering[] {
  const [first, second] = hybrid['signatures'] as [Members, Members]
  const list = (...signatures: Json[]) => put(hybrid, 'signatures', signatures)
  const unrequired = drop(hybrid, 'requiredAlgorithms')
  const requiring = (algorithms: Json, signatures: Json[]) =>
    put(put(hybrid, 'requiredAlgorithms', algorithms), 'signatures', signatures)
  const rows: [string, string, Members, Tampering['kind']?][] = [
    ['second-stripped', 'Its ML-DSA-65 signature is stripped.', list(first)],
    ['first-stripped', 'Its Ed25519 signature is stripped from the list.', list(second)],
    ['weaker-twice', 'The weaker signature stands in the place of the stronger too.', list(first, first)],
    ['stronger-twice', 'The ML-DSA-65 signature stands in both places.', list(second, second)],
    ['swapped', 'Its signatures are in another order than it requires.', list(second, first)],
    ['third', 'It has a signature more than it requires.', list(first, second, first)],
    ['no-list', 'It has no list of signatures.', drop(hybrid, 'signatures')],
    ['empty-list', 'Its list of signatures is empty.', list()],
    ['null-second', 'Its second signature is null.', list(first, null)],
    ['map', 'Its signatures are a map and no list.', put(hybrid, 'signatures', { '0': first, '1': second })],
    ['second-spoiled', 'Its second signature is spoiled.', change(hybrid, 'signatures.1.value', spoil)],
    ['second-empty', 'Its second signature is empty.', put(hybrid, 'signatures.1.value', '')],
    [
      'second-by-ed25519',
      'Its second signature claims ML-DSA-65 for an Ed25519 key and signature.',
      list(first, { ...first, algorithm: 'ml-dsa-65' }),
    ],
    [
      'second-other-key',
      'Its second signature names another published key.',
      put(hybrid, 'signatures.1.keyId', keys.oldMlDsa65.keyId),
    ],
    [
      'first-in-list-spoiled',
      'Only the first signature in the list is spoiled.',
      change(hybrid, 'signatures.0.value', spoil),
    ],
    [
      'signature-spoiled',
      '`signature` is not the first of the list: it is spoiled.',
      change(hybrid, value, spoil),
    ],
    [
      'signature-is-second',
      '`signature` is the second of the list and not the first.',
      put(hybrid, value, second['value'] as Json),
    ],
    [
      'both-spoiled',
      'The first signature is spoiled alike in both places.',
      change(change(hybrid, value, spoil), 'signatures.0.value', spoil),
    ],
    ['requires-nothing', 'requiredAlgorithms is removed.', unrequired, 'signed members'],
    [
      'downgraded',
      'requiredAlgorithms and the list are removed: what is left looks like a record of one algorithm.',
      drop(unrequired, 'signatures'),
      'signed members',
    ],
    [
      'requires-null',
      'requiredAlgorithms is null.',
      put(hybrid, 'requiredAlgorithms', null),
      'signed members',
    ],
    ['requires-none', 'requiredAlgorithms and the list are emptied.', requiring([], []), 'signed members'],
    [
      'requires-weaker',
      'Only the weaker algorithm is required.',
      requiring(['ed25519'], [first]),
      'signed members',
    ],
    [
      'requires-stronger',
      'Only the stronger algorithm is required.',
      requiring(['ml-dsa-65'], [second]),
      'signed members',
    ],
    [
      'requires-weaker-twice',
      'The weaker algorithm is required twice.',
      requiring(['ed25519', 'ed25519'], [first, first]),
      'signed members',
    ],
    [
      'requires-other-order',
      'The algorithms are required in another order.',
      requiring(['ml-dsa-65', 'ed25519'], [second, first]),
      'signed members',
    ],
    [
      'requires-one-more',
      'An algorithm that nobody knows is required too.',
      requiring(['ed25519', 'ml-dsa-65', 'rsa'], [first, second, first]),
      'signed members',
    ],
  ]
  return rows.map(([id, what, evidence, kind = 'signatures']) => ({
    id: `hybrid-${id}`,
    what,
    evidence,
    kind,
  }))
}

function spoil(base64: Json): string {
  const signature = Buffer.from(base64 as string, 'base64')
  signature[0] = (signature[0] ?? 0) ^ 1
  return signature.toString('base64')
}
