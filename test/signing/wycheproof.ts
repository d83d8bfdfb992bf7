// Project Wycheproof's verification vectors (test/vectors/README.md).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

const Vectors = Type.Object({
  testGroups: Type.Array(
    Type.Object({
      /** Hex in the ML-DSA file, a structure in the Ed25519 one. */
      publicKey: Type.Union([Type.String(), Type.Object({ pk: Type.String() })]),
      tests: Type.Array(
        Type.Object({
          tcId: Type.Integer(),
          comment: Type.String(),
          ctx: Type.Optional(Type.String()),
          msg: Type.String(),
          sig: Type.String(),
          result: Type.Union([Type.Literal('valid'), Type.Literal('invalid')]),
        }),
      ),
    }),
  ),
})

export interface VerifyCase {
  readonly title: string
  readonly publicKey: Buffer
  readonly message: Buffer
  readonly signature: Buffer
  readonly context: string
  readonly valid: boolean
}

/** @throws when the file is not a vector file */
export function verifyCases(name: string): VerifyCase[] {
  const file = join(import.meta.dirname, '..', 'vectors', 'wycheproof', name)
  const { testGroups } = Compile(Vectors).Parse(JSON.parse(readFileSync(file, 'utf8')))
  return testGroups.flatMap(({ publicKey, tests }) =>
    tests.map((test) => ({
      title: `${test.tcId} ${test.comment}`,
      publicKey: Buffer.from(typeof publicKey === 'string' ? publicKey : publicKey.pk, 'hex'),
      message: Buffer.from(test.msg, 'hex'),
      signature: Buffer.from(test.sig, 'hex'),
      context: test.ctx ?? '',
      valid: test.result === 'valid',
    })),
  )
}
