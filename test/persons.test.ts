// One human has names and keys, however many steps lie between them.
import { describe, expect, test } from 'vitest'
import {
  approversBehind,
  countedApprovers,
  isSamePerson,
  joinPersons,
  namingOfApprover,
  namingOfCaller,
  otherHolder,
  type Naming,
} from '../src/formats/people/persons.ts'
import { aKeyPair } from './authority.ts'

const KEY = aKeyPair().publicKeyPem
const OTHER_KEY = aKeyPair().publicKeyPem
const caller = (callerId: string, approverId?: string, key?: string): Naming => ({
  callerId,
  ...(approverId === undefined ? {} : { approverId }),
  publicKeyPems: key === undefined ? [] : [key],
})
const approver = (approverId: string, publicKeyPem: string = aKeyPair().publicKeyPem) =>
  namingOfApprover({ approverId, publicKeyPem })

describe('the approvers behind an execution', () => {
  test.each<[string, readonly Naming[], readonly string[], readonly string[]]>([
    ['nobody is known', [], ['a', 'b'], []],
    ['the approver of the caller', [caller('a', 'x')], ['a'], ['x']],
    ['the approver of the principal', [caller('a', 'x')], ['bot', 'a'], ['x']],
    ['an approver of the same name', [approver('a')], ['a'], ['a']],
    ['an approver whose name differs in case', [approver('Ada')], ['aDA'], ['Ada']],
    [
      'all approvers of its keys, sorted',
      [caller('a', 'z'), caller('a', 'B'), caller('A', 'c')],
      ['a'],
      ['B', 'c', 'z'],
    ],
    ['of both, each once', [caller('a', 'x'), caller('b', 'x')], ['a', 'b'], ['x']],
    ['over a caller in between', [caller('a', 'x'), caller('b', 'x'), caller('b', 'y')], ['a'], ['x', 'y']],
    ['by a key that both registers have', [caller('a', undefined, KEY), approver('x', KEY)], ['a'], ['x']],
    [
      'by a key in another notation',
      [caller('a', undefined, KEY.replaceAll('\n', '\r\n')), approver('x', KEY)],
      ['a'],
      ['x'],
    ],
    [
      'by an approver who is named before the caller',
      [approver('x', KEY), approver('y', OTHER_KEY), caller('b', 'y', KEY), caller('a', 'y')],
      ['a'],
      ['x', 'y'],
    ],
    ['not of another caller', [caller('a', 'x'), caller('b', 'y')], ['a'], ['x']],
    ['names that every object has', [caller('__proto__', 'constructor')], ['__proto__'], ['constructor']],
    ['letters that only look alike', [approver('kim')], ['\u212Aim'], []],
  ])('%s', (_, namings, initiators, due) => {
    expect(approversBehind(joinPersons(namings), initiators)).toEqual(due)
    expect(approversBehind(joinPersons(namings.toReversed()), initiators)).toEqual(due)
  })

  test('a chain of any length', () => {
    const chain = Array.from({ length: 2_000 }, (_, i) => caller(`c${i}`, `a${i + 1}`))
    const links = Array.from({ length: 2_000 }, (_, i) => caller(`c${i}`, `a${i}`))
    const persons = joinPersons([...chain, ...links])
    expect(isSamePerson(persons, 'c0', 'a2000')).toBe(true)
    expect(approversBehind(persons, ['c1000'])).toHaveLength(2_001)
  })
})

test('of one person the first approval counts, and of a person behind the execution none', () => {
  const persons = joinPersons([caller('q', 'q1'), caller('q', 'q2'), caller('a', 'x'), approver('dana')])
  expect(countedApprovers(persons, ['x', 'q2', 'Dana', 'q1', 'dana', 'x'], ['bot', 'a'])).toEqual([
    'q2',
    'Dana',
  ])
  expect(countedApprovers(persons, ['q1', 'q2'], ['q', 'q'])).toEqual([])
})

describe('a public key', () => {
  const standing = [caller('a', 'x', KEY), approver('y', OTHER_KEY)]
  test.each<[string, Naming, string | undefined]>([
    ['that nobody has', approver('z'), undefined],
    ['that a caller has', approver('z', KEY), "'a'"],
    ['that an approver has', caller('b', undefined, OTHER_KEY), "approver 'y'"],
    ['of the caller whose approver it is', approver('x', KEY), undefined],
    ['of the caller itself, again', caller('a', undefined, KEY), undefined],
    ['of the approver whom the proposal names', caller('b', 'y', OTHER_KEY), undefined],
    ['of an approver of the same name', caller('Y', undefined, OTHER_KEY), undefined],
    ['that is none', caller('b', 'y'), undefined],
  ])('%s', (_, proposed, holder) => {
    expect(otherHolder(standing, proposed)).toBe(holder)
  })

  test('is known of a passkey as of a raw key', () => {
    const passkey = { publicKeyPem: KEY, rpId: 'a.example', origins: [], backupEligible: false }
    expect(otherHolder([namingOfCaller({ callerId: 'a', stepUpPasskey: passkey })], approver('z', KEY))).toBe(
      "'a'",
    )
  })
})
