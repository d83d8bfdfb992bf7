// Documents that are encoded once: a failure is not kept.
import { expect, test } from 'vitest'
import { answerKept } from '../../src/server/kept-document.ts'

test.each(['br', 'gzip', 'identity'])(
  'an encoding as %s that failed is tried again, and kept then',
  async (coding) => {
    let made = 0
    const document = {
      get body() {
        if (++made === 1) throw new Error('no memory')
        return 'x'.repeat(1_000)
      },
      cache: 'no-cache',
    }
    const head = { header: (name: string) => (name === 'accept-encoding' ? coding : undefined) }
    await expect(answerKept(document, head)).rejects.toThrow('no memory')
    const answer = await answerKept(document, head)
    expect(answer.status).toBe(200)
    expect(await answerKept(document, head)).toBe(answer)
    expect(made).toBe(2)
  },
)
