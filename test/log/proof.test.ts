import { describe, expect, test } from 'vitest'
import { parsePolicy, policyOfKeys } from '../../src/formats/log/policy.ts'
import { formatVkey } from '../../src/formats/log/note.ts'
import { formatProof, parseProof, type LogProof } from '../../src/formats/log/proof.ts'
import { buildTree, leafHash } from '../../src/formats/merkle/tree.ts'
import { aSigner, cryptos, random, sha256, signed } from './signers.ts'
import { verifyProof } from './verify-proof.ts'

const origin = 'countersign.example/log/1'
const log = aSigner(origin, 'ed25519')
const logMlDsa = aSigner(origin, 'ml-dsa-44-cosignature')
const witness = aSigner('witness.example/w1', 'ed25519-cosignature')

const entries = Array.from({ length: 70 }, (_, i) =>
  Buffer.from(`countersign/1 receipt ${Buffer.from(sha256(Buffer.of(i))).toString('hex')}`),
)
const hashes = entries.map((entry) => leafHash(entry, sha256))

function aProof({ index = 5, size = 13, signers = [log, logMlDsa, witness] } = {}): LogProof {
  const tree = buildTree(hashes.slice(0, size), sha256)
  const checkpoint = signed({ origin, size, root: new Uint8Array(tree.root) }, signers)
  return { index, path: tree.path(index), checkpoint, extra: entries[index]! }
}

const policy = parsePolicy(
  `log ${formatVkey(log.key)}\nlog ${formatVkey(logMlDsa.key)}\n` +
    `witness w1 ${formatVkey(witness.key)}\nquorum w1\n`,
  sha256,
)

test('the file is lines of text before the checkpoint, and is read as what it was written from', () => {
  const proof = aProof()
  const text = formatProof(proof)
  const [header, extra, index, ...rest] = text.split('\n')
  expect(header).toBe('c2sp.org/tlog-proof@v1')
  expect(extra).toBe(`extra ${entries[5]!.toString('base64')}`)
  expect(index).toBe('index 5')
  expect(rest.slice(0, 5)).toEqual([...proof.path.map((hash) => Buffer.from(hash).toString('base64')), ''])
  expect(text.endsWith(`\n\n${proof.checkpoint}`)).toBe(true)
  expect(parseProof(text)).toEqual({
    ...proof,
    path: proof.path.map((hash) => new Uint8Array(hash)),
    extra: new Uint8Array(entries[5]!),
  })
  const { extra: _, ...without } = aProof({ index: 0, size: 1 })
  expect(formatProof(without)).toMatch(/^c2sp.org\/tlog-proof@v1\nindex 0\n\ncountersign/)
  expect(parseProof(Buffer.from(formatProof(without)))).toEqual(without)
})

const text = formatProof(aProof())
test.each<[string, string | Uint8Array, string]>([
  [
    'another version',
    text.replace('@v1', '@v2'),
    "the first line of the proof is not 'c2sp.org/tlog-proof@v1'",
  ],
  ['no blank line', text.replaceAll('\n\n', '\n'), 'the proof has no blank line'],
  ['bytes that are not UTF-8', Buffer.from(text.replaceAll('—', '\u00e9'), 'latin1'), 'not valid UTF-8'],
  ['carriage returns', text.replaceAll('\n', '\r\n'), 'a control character'],
  ['an extra line that is no base64', text.replace('extra ', 'extra !'), 'the extra line'],
  ['an empty extra line', text.replace(/extra .*/, 'extra '), 'the extra line'],
  ['two extra lines', text.replace(/(extra .*\n)/, '$1$1'), 'no index line where it belongs'],
  ['no index', text.replace('index 5\n', ''), 'no index line where it belongs'],
  ['an index with a leading zero', text.replace('index 5', 'index 05'), 'the index of the proof is not'],
  ['a negative index', text.replace('index 5', 'index -5'), 'the index of the proof is not'],
  ['an index of 2^53', text.replace('index 5', 'index 9007199254740992'), 'is above 2^53 - 1'],
  ['a hash that is no base64', text.replace('index 5\n', 'index 5\n!'), 'path hash 0 of the proof is not'],
  ['a short hash', text.replace('index 5\n', 'index 5\nAAAA\n'), 'path hash 0 of the proof is not'],
  ['54 hashes', text.replace('index 5\n', `index 5\n${`${'A'.repeat(43)}=\n`.repeat(50)}`), 'has 54 hashes'],
])('a file with %s is refused', (_, file, message) => {
  expect(() => parseProof(file)).toThrow(message)
})

describe.each(cryptos)('by %s', (_, crypto) => {
  const verify = (proof: string | Uint8Array | LogProof, entry: Uint8Array = entries[5]!, by = policy) =>
    verifyProof({ entry, proof, policy: by }, crypto)

  test('a proof says which log has the entry, where, who signed and which witness saw it when', () => {
    const proof = aProof()
    const said = verify(formatProof(proof))
    expect(said).toEqual({
      origin,
      index: 5,
      size: 13,
      root: new Uint8Array(buildTree(hashes.slice(0, 13), sha256).root),
      signedBy: [{ key: log.key }, { key: logMlDsa.key, timeSeconds: 1_795_000_000 }],
      cosignedBy: [{ name: 'w1', key: witness.key, timeSeconds: 1_795_000_000 }],
    })
    expect(verify(proof)).toEqual(said)
  })

  test('every entry of trees of any size is proven, and no other entry by its proof', () => {
    for (const size of [1, 2, 3, 4, 7, 8, 33, 70])
      for (let index = 0; index < size; index++) {
        const proof = formatProof(aProof({ index, size, signers: [log] }))
        const by = policyOfKeys([log.key])
        expect(verify(proof, entries[index], by)).toMatchObject({ index, size })
        expect(() => verify(proof, entries[(index + 1) % 70], by)).toThrow(
          `the entry is not at index ${index} of the log: its path does not lead to the root`,
        )
      }
  })

  test('another index, size or path is refused', () => {
    const proof = aProof()
    for (let index = 0; index < 14; index++)
      if (index !== 5) expect(() => verify({ ...proof, index }), `${index}`).toThrow(/index/)
    const { path } = proof
    expect(() => verify({ ...proof, path: path.slice(1) })).toThrow('the path is too short')
    expect(() => verify({ ...proof, path: [] })).toThrow('the path is too short')
    expect(() => verify({ ...proof, path: [...path, path[0]!] })).toThrow('the path is too long')
    expect(() => verify({ ...proof, path: path.toReversed() })).toThrow('does not lead to the root')
    for (const size of [12, 14, 16])
      expect(() => verify({ ...proof, checkpoint: aProof({ size }).checkpoint })).toThrow(/path/)
  })

  test('who signed is the choice of the policy', () => {
    const proof = aProof()
    const changed = (line: string) => proof.checkpoint.replace(line, '')
    const mlDsaLine = proof.checkpoint.split('\n').find((line) => line.length > 3000)! + '\n'
    const withoutMlDsa = { ...proof, checkpoint: changed(mlDsaLine) }
    expect(verify(withoutMlDsa).signedBy).toEqual([{ key: log.key }])
    // A verifier that rests on ML-DSA-44 alone trusts that key alone.
    expect(() => verify(withoutMlDsa, entries[5], policyOfKeys([logMlDsa.key]))).toThrow('is not signed')
    const withoutWitness = aProof({ signers: [log, logMlDsa] })
    expect(() => verify(withoutWitness)).toThrow(
      "the quorum 'w1' is not met: the checkpoint is cosigned by no witness",
    )
    expect(verify(withoutWitness, entries[5], policyOfKeys([log.key])).cosignedBy).toEqual([])
    expect(() => verify(proof, entries[5], policyOfKeys([]))).toThrow('is not signed by a trusted key')
    const other = aSigner('countersign.example/log/2', 'ed25519')
    expect(() => verify(proof, entries[5], policyOfKeys([other.key]))).toThrow('is not signed')
  })
})

test('a proof with any byte changed proves nothing, but for the extra line, which nothing rests on', () => {
  const [, crypto] = cryptos[0]
  // Without the ML-DSA-44 line, whose 3,300 characters take a signature check each; they are sampled below.
  const file = Buffer.from(formatProof(aProof({ signers: [log, witness] })))
  const extraAt = [file.indexOf('extra ') + 'extra '.length, file.indexOf('\nindex')] as const
  const proves = (bytes: Uint8Array) => {
    try {
      verifyProof({ entry: entries[5]!, proof: bytes, policy }, crypto)
      return true
    } catch {
      return false
    }
  }
  expect(proves(file)).toBe(true)
  const next = random(20)
  for (let at = 0; at < file.length; at++) {
    const others = [1, 2, 4, 8, 16, 32, 64, 128].map((bit) => file[at]! ^ bit)
    for (const byte of [...others, next(256)]) {
      if (byte === file[at] || (at >= extraAt[0] && at < extraAt[1])) continue
      const changed = Buffer.from(file)
      changed[at] = byte
      expect(proves(changed), `byte ${at} as ${byte}`).toBe(false)
    }
  }
  for (let at = 0; at <= file.length; at++) {
    const shorter = Buffer.concat([file.subarray(0, at), file.subarray(at + 1)])
    const within = at >= extraAt[0] && at < extraAt[1]
    if (at < file.length && !within) expect(proves(shorter), `without byte ${at}`).toBe(false)
    if (at < file.length) expect(proves(file.subarray(0, at)), `cut at ${at}`).toBe(false)
  }
  // As long as the extra line is well-formed, the proof holds for the same entry, no matter its content.
  const extra = Buffer.from(file.toString().replace(/extra .*/, 'extra AAAA'))
  expect(verifyProof({ entry: entries[5]!, proof: extra, policy }, crypto).index).toBe(5)
})

test('random changes of a proof with an ML-DSA-44 line, by one or several bytes, never prove anything', () => {
  const [, crypto] = cryptos[0]
  // Each line is needed: one whose key id is changed is that of an unknown key and is ignored, as signed-note asks.
  const { extra: _, ...proof } = aProof({ signers: [logMlDsa, witness] })
  const file = Buffer.from(formatProof(proof))
  const next = random(7)
  for (let round = 0; round < 3_000; round++) {
    const changed = Buffer.from(file)
    for (let changes = 0; changes <= next(3); changes++) changed[next(file.length)]! ^= 1 + next(255)
    if (changed.equals(file)) continue
    expect(() => verifyProof({ entry: entries[5]!, proof: changed, policy }, crypto)).toThrow()
  }
})
