import { expect, test } from 'vitest'
import { encode, preAuthEncoding } from '../../src/core/signing/dsse.ts'

test('the example of the DSSE protocol has its published encoding', () => {
  expect(encode('http://example.com/HelloWorld', 'hello world').toString()).toBe(
    'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
  )
})

test('an artifact is named by its payload type', () => {
  expect(preAuthEncoding('receipt', '{}').toString()).toBe(
    'DSSEv1 43 application/vnd.countersign.receipt.v1+json 2 {}',
  )
})

test('lengths count bytes of UTF-8, not characters', () => {
  expect(encode('é', '𝄞').toString()).toBe('DSSEv1 2 é 4 𝄞')
})
