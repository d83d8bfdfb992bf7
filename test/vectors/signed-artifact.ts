// A small artifact `{<member>: …, signature}` can be wrong in these ways, whatever it says.
import { batchForgeries } from './batches.ts'
import { forgeries, type Cases } from './case.ts'
import { at, drop, put, type Json, type Members } from './edit.ts'
import { uuid } from './evidence.ts'
import { canonical, humans, keys, type Forgery, type Key } from './keys.ts'

export interface SignedArtifact {
  /** The payload type that it is signed as. */
  readonly kind: string
  /** Where the payload stands beside its signature; its check has the same name. */
  readonly member: string
  readonly payload: Members
  /** A payload is given back with its signature. */
  readonly signed: (payload: Members, due?: Key, forgery?: Forgery) => Members
  /** Another artifact of the kind, whose signature is right. */
  readonly other: Members
}

/**
 * Each member of the payload changed and removed.
 * @param hasMeaning whether the payload says nothing that there is without the member
 */
export function addMembers(
  all: Cases,
  { member, payload, signed }: SignedArtifact,
  hasMeaning: (name: string) => boolean = () => true,
): void {
  const whole = signed(payload)
  for (const name of Object.keys(payload)) {
    const fails = [`${member} signature`, ...(hasMeaning(name) ? [member] : [])]
    all.add(`changed-${name}`, `${name} was changed.`, put(whole, `${member}.${name}`, ''), fails)
    all.add(`missing-${name}`, `${name} was removed.`, drop(whole, `${member}.${name}`), fails)
  }
}

/** Another shape, another signature, another signer, and what is no evidence at all. */
export function addShapesAndSignatures(
  all: Cases,
  { kind, member, payload, signed, other }: SignedArtifact,
): void {
  const whole = signed(payload)
  const fails = [`${member} signature`]
  all.add('added-member', 'A member was added.', put(whole, `${member}.more`, 1), fails)
  for (const [id, value] of [
    ['null', null],
    ['list', [payload]],
    ['text', canonical(payload)],
    ['empty', {}],
  ] as [string, Json][])
    all.add(`${member}-${id}`, `The ${member} is ${id}.`, put(whole, member, value), [...fails, member])
  for (const name of ['algorithm', 'keyId', 'value'])
    all.add(
      `signature-without-${name}`,
      `The signature has no ${name}.`,
      drop(whole, `signature.${name}`),
      fails,
    )
  const ofOther = put(whole, 'signature', at(other, 'signature'))
  all.add('signature-of-other', 'It carries the signature of another.', ofOther, fails)
  const byHuman = signed(payload, humans.aliceStepUp)
  all.add('by-approver', 'A human signed it in place of the service.', byHuman, fails)
  const byMlDsa = signed(payload, keys.mlDsa65)
  all.add('by-ml-dsa-65', `ML-DSA-65 signed it, and ${member}s are always Ed25519.`, byMlDsa, fails)
  for (const [id, what, forgery] of [...forgeries(kind), ...batchForgeries(kind)])
    all.addForged(id, what, signed(payload, keys.ed25519, forgery), fails, forgery)
  const alone = JSON.stringify({ [member]: payload })
  all.addUnusable('unusable-alone', `It is the ${member} without its signature.`, alone)
  const twoKinds = JSON.stringify({ ...whole, event: { eventId: uuid('event') } })
  all.addUnusable('unusable-two-kinds', 'It is an audit event too.', twoKinds)
}
