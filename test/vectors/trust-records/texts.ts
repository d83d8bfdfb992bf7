// Records whose exact text is the point, and texts that are no evidence at all.
import type { Cases } from '../case.ts'
import { membersAt } from '../edit.ts'
import { aRecord } from '../evidence.ts'
import { keys, modes, publicKeyJson } from '../keys.ts'
import { EDGES } from './valid.ts'

export function recordTexts(all: Cases): void {
  const record = aRecord({ name: 'first' }, modes.ed25519)
  const text = JSON.stringify(record)
  const edges = JSON.stringify(aRecord({ name: 'edges', parameters: EDGES }, modes.ed25519))
  all.addText(
    'text-indented',
    'White space between the members means nothing.',
    JSON.stringify(record, null, 1),
  )
  all.addText(
    'text-number-notation',
    '42 written as 4.20e+1 is the same number: same canonical bytes.',
    inAll(text, '"amount":42', '"amount":4.20e+1'),
  )
  all.addText(
    'text-number-point-zero',
    '42 written as 42.0 is the same number.',
    inAll(text, '"amount":42', '"amount":42.0'),
  )
  all.addText('text-negative-zero', '-0 is canonically 0.', inAll(edges, '"zero":0', '"zero":-0'))
  all.addText(
    'text-subnormal',
    'The nearest double is the same: 4.9E-324 for 5e-324, 1000000000000000000000 for 1e21.',
    inAll(inAll(edges, '5e-324', '4.9E-324'), '1e+21', '1000000000000000000000'),
  )
  all.addText(
    'text-escapes',
    'Characters may be written as their escapes.',
    inAll(inAll(edges, '😀', String.raw`\ud83d\ude00`), '"Euro Sign"', String.raw`"\u0045uro Sign"`),
  )
  all.addText(
    'text-normalized',
    'é as one character is another text than é as two: nothing is normalized.',
    inAll(edges, 'e\u0301', '\u00e9'),
    ['canonical hash', 'record signature', 'transaction binding'],
  )

  const unusable: [string, string, string][] = [
    [
      'duplicate-key',
      'A member stands there twice, first with another value.',
      text.replace('{', '{"createdAt":"1999-01-01T00:00:00.000Z",'),
    ],
    [
      'duplicate-key-same',
      'A member stands there twice with the same value.',
      text.replace('{', `{"createdAt":${JSON.stringify(record['createdAt'])},`),
    ],
    [
      'duplicate-key-escaped',
      'A member stands there twice, once written with an escape.',
      text.replace('{', String.raw`{"cre\u0061tedAt":"1999-01-01T00:00:00.000Z",`),
    ],
    [
      'duplicate-key-deep',
      'A parameter stands there twice.',
      text.replace('"amount":42', '"amount":9999,"amount":42'),
    ],
    [
      'proto',
      'A member is named __proto__.',
      text.replace('"amount":42', '"amount":42,"__proto__":{"amount":9999}'),
    ],
    ['proto-top', 'A member of the record is named __proto__.', text.replace('{', '{"__proto__":{},')],
    ['bom', 'A byte order mark stands before it.', `\ufeff${text}`],
    ['lone-high', 'A text holds a lone high surrogate.', text.replace('invoice-1001', String.raw`\ud83d`)],
    ['lone-low', 'A text holds a lone low surrogate.', text.replace('invoice-1001', String.raw`\ude00`)],
    [
      'lone-key',
      'A key holds a lone surrogate.',
      text.replace('"amount":42', String.raw`"amount":42,"\ud83d":1`),
    ],
    ['overflow', 'A number is out of range of a double.', text.replaceAll('"amount":42', '"amount":1e400')],
    [
      'overflow-negative',
      'A number is out of range of a double, below zero.',
      text.replaceAll('"amount":42', '"amount":-1e400'),
    ],
    [
      'underflow',
      'A number is too small for a double, which would make it 0.',
      text.replaceAll('"amount":42', '"amount":1e-400'),
    ],
    ['nan', 'A number is NaN, which JSON does not have.', text.replaceAll('"amount":42', '"amount":NaN')],
    [
      'infinity',
      'A number is Infinity, which JSON does not have.',
      text.replaceAll('"amount":42', '"amount":Infinity'),
    ],
    ['leading-zero', 'A number has a leading zero.', text.replaceAll('"amount":42', '"amount":042')],
    ['plus', 'A number has a plus sign.', text.replaceAll('"amount":42', '"amount":+42')],
    ['hex', 'A number is hexadecimal.', text.replaceAll('"amount":42', '"amount":0x2a')],
    ['trailing-comma', 'A comma stands before the last brace.', text.replace(/\}$/, ',}')],
    ['comment', 'A comment stands before it.', `/* evidence */${text}`],
    ['single-quotes', 'Its strings are in single quotes.', text.replaceAll('"', "'")],
    ['trailing-text', 'Text stands after it.', `${text} approved`],
    ['two', 'Two records stand in a row.', `${text}\n${text}`],
    ['truncated', 'Its last character is missing.', text.slice(0, -1)],
    ['control-character', 'A line break stands in a string.', text.replace('invoice-1001', 'invoice\n1001')],
    ['no-break-space', 'A no-break space stands between two members.', text.replace('{', '{\u00a0')],
    [
      'deep',
      'It is nested a thousand deep.',
      text.replaceAll('"amount":42', `"amount":${'['.repeat(1000)}${']'.repeat(1000)}`),
    ],
    ['empty', 'There is nothing.', ''],
    ['blank', 'There is only white space.', ' \n'],
    ['null', 'It is null.', 'null'],
    ['true', 'It is true.', 'true'],
    ['number', 'It is a number.', '42'],
    ['string', 'It is a string that holds a record.', JSON.stringify(text)],
    ['empty-list', 'It is an empty list.', '[]'],
    ['empty-object', 'It is an empty object.', '{}'],
    ['list', 'It is a list with a record: several pieces of evidence are verified one by one.', `[${text}]`],
    [
      'error',
      'It is the answer of a server that had no record.',
      '{"error":"Execution Trust Record not found."}',
    ],
    ['key-set', 'It is the key set.', JSON.stringify({ keys: [publicKeyJson(keys.ed25519)] })],
    ['transaction', 'It is the transaction of a record.', JSON.stringify(record['transaction'])],
    ['authorization', 'It is the authorization of a record.', JSON.stringify(record['authorization'])],
    [
      'verification',
      'It is a verification: they are not signed.',
      JSON.stringify(membersAt(record, 'verifications.0')),
    ],
    [
      'ambiguous',
      'It claims to be a record and a receipt.',
      JSON.stringify({ ...record, ...membersAt(record, 'receipts.0') }),
    ],
  ]
  for (const [id, what, given] of unusable) {
    if (given === text) throw new Error(`${id} changes nothing`)
    all.addUnusable(`unusable-${id}`, what, given)
  }
  all.addUnusable(
    'unusable-no-id',
    'It has no trustRecordId, by which a record is known.',
    JSON.stringify({ ...record, trustRecordId: undefined }),
  )
}

function inAll(from: string, part: string, written: string): string {
  if (!from.includes(part)) throw new Error(`no ${part} in the text`)
  return from.replaceAll(part, written)
}
