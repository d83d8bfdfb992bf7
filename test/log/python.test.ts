// The formats of the log in the Python client: for each text that is read, changed or cut the same answer as here, refusals in the same words.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkpointText, openCheckpoint, parseCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { cosignedMessage, timestampedSignature } from '../../src/formats/log/cosignature.ts'
import { toHex } from '../../src/formats/bytes.ts'
import { formatNote, formatVkey, parseNote, parseVkey, signatureLine } from '../../src/formats/log/note.ts'
import { openByPolicy, parsePolicy, policyOfKeys, type PolicyGroup } from '../../src/formats/log/policy.ts'
import { formatProof, parseProof } from '../../src/formats/log/proof.ts'
import { assertConsistent } from '../../src/formats/merkle/consistency.ts'
import { buildTree, leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'
import { noteCrypto } from '../../src/core/signing/log-keys.ts'
import { noPython, pythonEnv } from '../vectors/answers.ts'
import { aSigner, publishedNote, random, sha256, signed, type TestSigner } from './signers.ts'
import { consistencyPath } from '../merkle/trees.ts'
import { verifyProof } from './verify-proof.ts'

interface Case {
  readonly ask: string
  /** The arguments that are sent with it; bytes in base64. */
  readonly with: object
  readonly here: () => unknown
}

const text64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64')
const aCase = (ask: string, bytes: Uint8Array | string, here: () => unknown, others: object = {}): Case => ({
  ask,
  with: { file: text64(bytes), ...others },
  here,
})
const utf8 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('utf8')

const reading = {
  note: (file: Uint8Array | string) =>
    aCase('note', file, () => {
      const { text, lines } = parseNote(Buffer.from(file))
      return [text, lines.map(({ name, keyId, signature }) => [name, keyId, toHex(signature)])]
    }),
  checkpoint: (file: Uint8Array | string) =>
    aCase('checkpoint', file, () => {
      const { origin, size, root } = parseCheckpoint(utf8(file))
      return [origin, size, toHex(root)]
    }),
  vkey: (file: Uint8Array | string) =>
    aCase('vkey', file, () => {
      const key = parseVkey(utf8(file), sha256)
      return [key.name, key.keyId, key.type, formatVkey(key)]
    }),
  policy: (file: Uint8Array | string) => aCase('policy', file, () => policySaid(Buffer.from(file))),
  proof: (file: Uint8Array | string) =>
    aCase('proof', file, () => {
      const { index, path, checkpoint, extra } = parseProof(Buffer.from(file))
      return [index, path.map(toHex), checkpoint, extra === undefined ? null : toHex(extra)]
    }),
}

function policySaid(file: Uint8Array) {
  const { logs, witnesses, quorum } = parsePolicy(file, sha256)
  const asked = quorum === 'none' ? 'none' : quorum.name
  return [logs.map(({ url = null }) => url), witnesses.map(({ name, url = null }) => [name, url]), asked]
}

/** The groups of a policy are not listed here but hang under its quorum: they are compared by what they let through. */
const withoutGroups = (answer: { said?: unknown[] }) =>
  answer.said === undefined ? answer : { said: answer.said.toSpliced(2, 1) }

function pythonSays(cases: readonly Case[]): unknown[] {
  const input = cases.map(({ ask, with: others }) => `${JSON.stringify({ ask, ...others })}\n`).join('')
  const { stdout, stderr } = spawnSync('python3', [join(import.meta.dirname, 'formats.py')], {
    env: pythonEnv,
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  expect(stderr).toBe('')
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

function expectSame(cases: readonly Case[], shown = (answer: { said?: unknown[] }): unknown => answer): void {
  const answers = pythonSays(cases)
  expect(answers).toHaveLength(cases.length)
  const outcomes = new Set<string>()
  for (const [i, { ask, with: others, here }] of cases.entries()) {
    let said: object
    try {
      said = { said: here() }
      outcomes.add('said')
    } catch (error) {
      said = { refused: (error as Error).message }
      outcomes.add('refused')
    }
    expect(shown(answers[i] as object), `${ask} ${JSON.stringify(others).slice(0, 3_000)}`).toEqual(said)
  }
  expect([...outcomes].toSorted()).toEqual(['refused', 'said'])
}

const origin = 'countersign.example/log/1'
const log = aSigner(origin, 'ed25519')
const logMlDsa = aSigner(origin, 'ml-dsa-44-cosignature')
const witness = aSigner('witness.example/w1', 'ed25519-cosignature')
const pqWitness = aSigner('witness.example/w2', 'ml-dsa-44-cosignature')
const signable = { origin, size: 13, root: new Uint8Array(sha256(Buffer.from('root'))) }
const all = [log, logMlDsa, witness, pqWitness]
const keysOf = (vkeys: readonly string[]) => vkeys.map((vkey) => parseVkey(vkey, sha256))
const vkeysOf = (signers: readonly TestSigner[]) => signers.map(({ key }) => formatVkey(key))

/** The text itself, and with bytes changed, taken out, put in twice and cut off. */
function changed(text: Uint8Array | string, rounds: number): Uint8Array[] {
  const bytes = Buffer.from(text)
  const next = random(bytes.length)
  const one = () => {
    const at = next(bytes.length)
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at + 1)]
    const others = [
      Buffer.of(next(256)),
      Buffer.of(bytes[at]! ^ (1 << next(8))),
      Buffer.from('\n'),
      Buffer.alloc(0),
    ]
    const more = [
      Buffer.from('+'),
      Buffer.from('='),
      Buffer.from('0'),
      Buffer.from('ö\u2003'),
      bytes.subarray(at, at + 9),
    ]
    return next(12) === 0 ? before : Buffer.concat([before, [...others, ...more][next(9)]!, after])
  }
  return [bytes, ...Array.from({ length: rounds }, one)]
}

const trusting = (file: string, signers: readonly TestSigner[]) =>
  aCase(
    'trusted',
    signed(signable, signers),
    () =>
      openByPolicy(signed(signable, signers), parsePolicy(file, sha256), noteCrypto).cosignedBy.map(
        ({ name }) => name,
      ),
    { policy: file },
  )

describe.skipIf(noPython)(`the Python client${noPython ? ' (skipped: no Python 3.9 here)' : ''}`, () => {
  const names = ['signed-note', 'go', 'sum.golang.org', 'arche2025h1', 'coachandhorses2026h1']
  const notes = [...names.map((name) => publishedNote(name).note), signed(signable, all)]
  const vkeys = [...names.flatMap((name) => publishedNote(name).vkeys), ...vkeysOf(all)]

  test('reads notes, checkpoints and keys alike, and refuses the same in the same words', () => {
    const spaces = ['\u0085', '\u00a0', '\u1680', '\u2009', '\u2028', '\u3000', '\ufeff', '\u200b', '\u007f']
    expectSame([
      ...notes.flatMap((note) => changed(note, 150).map(reading.note)),
      ...spaces.map((space) => reading.note(`text\n\n— a${space}b AAAAAAA=\n`)),
      ...[32, 33].map((count) =>
        reading.note(formatNote('text\n', Array<string>(count).fill('— a AAAAAAA=\n'))),
      ),
      reading.note('\ufeff\n\n— a AAAAAAA=\n'),
      ...changed(checkpointText(signable), 600).map(reading.checkpoint),
      ...['9007199254740991', '9007199254740992', '9'.repeat(400)].map((size) =>
        reading.checkpoint(checkpointText(signable).replace('\n13\n', `\n${size}\n`)),
      ),
      ...vkeys.flatMap((vkey) => changed(vkey, 60).map(reading.vkey)),
    ])
  })

  test('finds the same signatures to hold', () => {
    const published = publishedNote('arche2025h1')
    const late = signatureLine(witness.key, timestampedSignature(2 ** 53 - 1, new Uint8Array(64)))
    const tooLate = late.replace(
      /\S+\n$/,
      text64(Buffer.concat([Buffer.from(witness.key.keyId, 'hex'), Buffer.alloc(72, 255)])) + '\n',
    )
    const own = [vkeysOf([log, logMlDsa]), vkeysOf([witness, pqWitness])] as const
    const longNamed = aSigner('o'.repeat(256), 'ml-dsa-44-cosignature')
    const unsignable = formatNote(`${'o'.repeat(256)}\n1\n${text64(new Uint8Array(32))}\n`, [
      signatureLine(longNamed.key, new Uint8Array(2428)),
    ])
    expectSame([
      ...changed(published.note, 120).map((note) =>
        opening(note, published.vkeys.slice(0, 1), published.vkeys.slice(1)),
      ),
      ...changed(signed(signable, all), 120).map((note) => opening(note, ...own)),
      ...all.map((one) => opening(signed(signable, [one]), ...own)),
      ...[late, tooLate].map((line) =>
        opening(formatNote(checkpointText(signable), [log.line(signable), line]), ...own),
      ),
      opening(unsignable, [formatVkey(longNamed.key)], []),
    ])
  })

  test('proves the same entries', () => {
    const entries = Array.from({ length: 21 }, (_, i) => Buffer.from(`entry ${i}`))
    const hashes = entries.map((entry) => leafHash(entry, sha256))
    const tree = (size: number) => buildTree(hashes.slice(0, size), sha256)
    const proofOf = (index: number, size: number, signers: readonly TestSigner[]) => {
      const { root, path } = tree(size)
      const checkpoint = signed({ origin, size, root: new Uint8Array(root) }, signers)
      return formatProof({ index, path: path(index), checkpoint, extra: entries[index]! })
    }
    const logs = vkeysOf([log, logMlDsa])
    const policy = policyOfKeys([log.key, logMlDsa.key])
    const proving = (proof: Uint8Array | string, entry: Buffer) =>
      aCase(
        'proven',
        proof,
        () => openedSaid(verifyProof({ entry, proof: Buffer.from(proof), policy }, noteCrypto)),
        {
          logs,
          entry: text64(entry),
        },
      )
    const inclusion = (
      index: number,
      size: number,
      path: readonly Uint8Array[],
      leaf: Uint8Array = hashes[0]!,
    ) => ({
      ask: 'inclusion',
      with: { index, size, path: path.map(text64), leaf: text64(leaf) },
      here: () => toHex(rootOfInclusion({ index, size, path, leafHash: leaf }, sha256)),
    })
    const consistency = (
      start: number,
      end: number,
      size: number,
      path: readonly Uint8Array[],
      roots = [hashes[1]!, hashes[2]!],
    ) => ({
      ask: 'consistency',
      with: {
        start,
        end,
        size,
        path: path.map(text64),
        partRoot: text64(roots[0]!),
        root: text64(roots[1]!),
      },
      here: () =>
        assertConsistent({ start, end, size, path, partRoot: roots[0]!, root: roots[1]! }, sha256) ?? true,
    })
    const lengths = [0, 1, 2, 3, 4, 5, 6]
    const short = Buffer.alloc(31)
    expectSame([
      ...[proofOf(5, 13, [log, logMlDsa]), proofOf(0, 1, [log])].flatMap((proof) => [
        ...changed(proof, 300).map(reading.proof),
        ...changed(proof, 150).map((file) => proving(file, entries[proof.includes('index 5') ? 5 : 0]!)),
      ]),
      ...entries.map((entry, index) => proving(proofOf(index, 21, [log]), entry)),
      ...[-1, 0, 1, 2, 5, 12, 13, 2 ** 53].flatMap((index) =>
        [0, 1, 2, 3, 13, 2 ** 53 - 1, 2 ** 53].flatMap((size) =>
          lengths.map((length) => inclusion(index, size, hashes.slice(0, length))),
        ),
      ),
      inclusion(0, 1, [], short),
      inclusion(0, 2, [short]),
      ...Array.from({ length: 21 }, (_, i) => i + 1).flatMap((size) =>
        [1, 2, 3, 4, 8, 13, size].map((end) => {
          const ranges = { start: 0, end }
          const path = end > size ? [] : consistencyPath(hashes.slice(0, size), ranges)
          return consistency(0, end, size, path, [tree(end).root, tree(size).root])
        }),
      ),
      ...[0, 1, 2, 4].flatMap((start) =>
        [0, 1, 3, 4, 6, 8].flatMap((end) =>
          [1, 4, 7, 8].flatMap((size) =>
            lengths.map((length) => consistency(start, end, size, hashes.slice(0, length))),
          ),
        ),
      ),
      consistency(0, 1, 1, [], [short, hashes[0]!]),
      consistency(0, 1, 1, [], [hashes[0]!, short]),
      consistency(0, 1, 2, [short]),
    ])
  })

  test('reads policies alike, and lets the same checkpoints through', () => {
    const [w1, w2, w3] = [witness, pqWitness, aSigner('witness.example/w3', 'ed25519-cosignature')]
    const policy =
      `# comment\nlog ${formatVkey(log.key)} https://log.example\nlog ${formatVkey(logMlDsa.key)}\n` +
      `\twitness a ${formatVkey(w1.key)}\nwitness b ${formatVkey(w2.key)} https://b.example/\nwitness c ${formatVkey(w3.key)}\n` +
      'group g 2 a b\n group  any\tall g c\nquorum any\n'
    const lines = policy.split('\n')
    const next = random(3)
    const shuffled = Array.from({ length: 400 }, () =>
      lines
        .toSpliced(next(lines.length), 1)
        .toSpliced(next(lines.length), 0, lines[next(lines.length)]!)
        .join('\n'),
    )
    const words = [
      'all',
      'any',
      '0',
      '2',
      '3',
      '01',
      'none',
      'a',
      'g',
      'quorum',
      'constructor',
      '\u00a0',
      '\u007f',
    ]
    const reworded = Array.from({ length: 400 }, () => {
      const items = policy.split(/( |\n)/)
      return items.with(next(items.length), words[next(words.length)]!).join('')
    })
    expectSame([...changed(policy, 500), ...shuffled, ...reworded].map(reading.policy), withoutGroups)

    const sets = Array.from({ length: 16 }, (_, set) =>
      [log, w1, w2, w3].filter((one) => (set & (1 << [log, w1, w2, w3].indexOf(one))) !== 0),
    )
    const quorums = ['any', 'g', 'a', 'none'].map((name) => policy.replace('quorum any', `quorum ${name}`))
    expectSame(quorums.flatMap((file) => sets.map((signers) => trusting(file, signers))))
    const { members } = parsePolicy(policy, sha256).quorum as PolicyGroup
    expect(members.map(({ name }) => name)).toEqual(['g', 'c'])
  })

  test('signs for the same message of a cosignature', () => {
    const tree = { cosigner: 'w', origin: 'o', start: 0, end: 8, timeSeconds: 0, hash: new Uint8Array(32) }
    const changes = [
      {},
      { start: 8 },
      { start: 8, timeSeconds: 1 },
      { timeSeconds: 2 ** 53 },
      { timeSeconds: -1 },
      { end: 2 ** 53 - 1 },
      { cosigner: '' },
      { cosigner: 'ö'.repeat(127) },
      { origin: 'ö'.repeat(128) },
      { hash: new Uint8Array(31) },
    ]
    expectSame(
      changes.map((change) => {
        const given = { ...tree, ...change }
        return {
          ask: 'message',
          with: { ...given, hash: text64(given.hash) },
          here: () => toHex(cosignedMessage(given)),
        }
      }),
    )
  })
})

const opening = (note: Uint8Array | string, logs: readonly string[], witnesses: readonly string[]) =>
  aCase(
    'signed',
    note,
    () => {
      const found = openCheckpoint(
        Buffer.from(note),
        { logs: keysOf(logs), witnesses: keysOf(witnesses) },
        noteCrypto,
      )
      return openedSaid(found)
    },
    { logs, witnesses },
  )

function openedSaid({ signedBy, cosignedBy, ...opened }: ReturnType<typeof openCheckpoint>) {
  const signers = signedBy.map(({ key, timeSeconds = null }) => [key.keyId, timeSeconds])
  return [
    opened.origin,
    opened.size,
    toHex(opened.root),
    signers,
    cosignedBy.map(({ timeSeconds }) => timeSeconds),
  ]
}
