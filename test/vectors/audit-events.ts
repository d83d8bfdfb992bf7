// The audit events among the published vectors (decisions §9): `{event, signature}`.
import { batchForgeries } from './batches.ts'
import { Cases, forgeries, type Case } from './case.ts'
import { at, drop, put, type Json } from './edit.ts'
import { anEvent, signEvent, time, uuid } from './evidence.ts'
import { canonical, keys, sign, revokedKey } from './keys.ts'
import { addRevoked } from './revoked.ts'

const FAILING = ['event signature']

export function auditCases(): Case[] {
  const all = new Cases('audit-event')
  const event = anEvent()
  const signed = signEvent(event)
  all.add('valid', 'A caller was refused a capability.', signed)
  const { eventId, type, occurredAt, route, severity } = event as { [name: string]: string }
  const minimal = { eventId, type, occurredAt, route, severity } as { [name: string]: Json }
  all.add('valid-minimal', 'Without every member that may be left out.', signEvent(minimal))
  all.add(
    'valid-unicode',
    'Its detail holds whatever a caller sent.',
    signEvent({ ...event, detail: { 'ﬁ 😀': ['\u0000', 1e21, 5e-324] } }),
  )
  all.add(
    'valid-rotated-key',
    'Signed by a key that was rotated out and is still published.',
    signEvent(event, keys.oldEd25519),
  )
  all.add(
    'valid-signed-at',
    'signature.signedAt is informative and not proven: a change of it is not seen.',
    put(signed, 'signature.signedAt', time(999)),
  )
  all.addUnsigned(
    'in-signature',
    'Its signature has a member that nothing signs.',
    signed,
    'signature.signedBy',
  )
  addRevoked(
    all,
    { signedAs: 'audit-event', time: 'occurredAt' },
    (when) => signEvent({ ...event, occurredAt: when }, revokedKey),
    ['event signature'],
  )
  for (const member of Object.keys(event)) {
    all.add(
      `changed-${member}`,
      `${member} was changed.`,
      put(signed, `event.${member}`, member === 'detail' ? { requestId: uuid('another') } : 'another'),
      FAILING,
    )
    all.add(`missing-${member}`, `${member} was removed.`, drop(signed, `event.${member}`), FAILING)
  }
  all.add('added-member', 'A member was added to the event.', put(signed, 'event.note', 'x'), FAILING)
  const other = signEvent({ ...event, eventId: uuid('another event') })
  all.add(
    'signature-of-other',
    'It carries the signature of another event.',
    put(signed, 'signature', at(other, 'signature')),
    FAILING,
  )
  for (const [id, value] of [
    ['null', null],
    ['list', [event]],
    ['text', canonical(event)],
    ['empty', {}],
  ] as [string, Json][])
    all.add(`event-${id}`, `The event is ${id}.`, put(signed, 'event', value), FAILING)
  for (const [id, value] of [
    ['null', null],
    ['list', [at(signed, 'signature')]],
    ['text', at(signed, 'signature.value')],
    ['empty', {}],
  ] as [string, Json][])
    all.add(`signature-${id}`, `The signature is ${id}.`, put(signed, 'signature', value), FAILING)
  for (const member of ['algorithm', 'keyId', 'value'])
    all.add(
      `signature-without-${member}`,
      `The signature has no ${member}.`,
      drop(signed, `signature.${member}`),
      FAILING,
    )
  all.add(
    'by-ml-dsa-65',
    'It is rightly signed by ML-DSA-65, and events are always Ed25519.',
    signEvent(event, keys.mlDsa65),
    FAILING,
  )
  all.add(
    'whole-signed',
    'The right key signed the event inside of an object.',
    put(signed, 'signature', {
      ...sign('audit-event', canonical({ event }), keys.ed25519),
      signedAt: time(30),
    }),
    FAILING,
  )
  for (const [id, what, forgery] of [...forgeries('audit-event'), ...batchForgeries('audit-event')])
    all.addForged(id, what, signEvent(event, keys.ed25519, forgery), FAILING, forgery)
  all.addUnusable('unusable-event-alone', 'It is the event without its signature.', JSON.stringify(event))
  all.addUnusable(
    'unusable-page',
    'It is a page of events: they are verified one by one.',
    JSON.stringify({ events: [signed] }),
  )
  all.addUnusable(
    'unusable-duplicate-key',
    'A member stands there twice.',
    JSON.stringify(signed).replace('"severity":', '"severity":"none","severity":'),
  )
  return all.cases
}
