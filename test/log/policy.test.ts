import { describe, expect, test } from 'vitest'
import { formatVkey, verifierKey } from '../../src/formats/log/note.ts'
import {
  meetsQuorum,
  openByPolicy,
  parsePolicy,
  policyOfKeys,
  type LogPolicy,
} from '../../src/formats/log/policy.ts'
import { noteCrypto } from '../../src/core/signing/log-keys.ts'
import { aSigner, publishedNote, sha256, signed } from './signers.ts'

const origin = 'countersign.example/log/1'
const log = aSigner(origin, 'ed25519')
const mlDsaLog = aSigner(origin, 'ml-dsa-44-cosignature')
const witnesses = Array.from({ length: 6 }, (_, i) =>
  aSigner(`witness.example/w${i}`, i === 0 ? 'ml-dsa-44-cosignature' : 'ed25519-cosignature'),
)
const logVkey = formatVkey(log.key)
const vkeys = witnesses.map(({ key }) => formatVkey(key))

/** The example of the specification. */
const example = `log ${logVkey}

witness X1 ${vkeys[0]}
witness X2 ${vkeys[1]}
witness X3 ${vkeys[2]}
group X-witnesses 2 X1 X2 X3

witness Y1 ${vkeys[3]}
witness Y2 ${vkeys[4]}
witness Y3 ${vkeys[5]}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`

const parse = (file: string | Uint8Array) => parsePolicy(file, sha256)

/** Whether the witnesses with these numbers are enough. */
const isEnough = ({ quorum }: LogPolicy, numbers: readonly number[], from: LogPolicy) =>
  meetsQuorum(
    quorum,
    numbers.map((i) => ({ key: from.witnesses[i]!.key, timeSeconds: 1 })),
  )

test('the example of the specification asks for two of three and one of three', () => {
  const policy = parse(example)
  expect(policy.logs).toEqual([{ key: log.key }])
  expect(policy.witnesses.map(({ name }) => name)).toEqual(['X1', 'X2', 'X3', 'Y1', 'Y2', 'Y3'])
  expect(policy.quorum).toMatchObject({
    name: 'X-and-Y',
    threshold: 2,
    members: [
      { name: 'X-witnesses', threshold: 2 },
      { name: 'Y-witnesses', threshold: 1 },
    ],
  })
  for (let set = 0; set < 64; set++) {
    const numbers = [0, 1, 2, 3, 4, 5].filter((i) => (set & (1 << i)) !== 0)
    const ofX = numbers.filter((i) => i < 3).length
    expect(isEnough(policy, numbers, policy), numbers.join(' ')).toBe(ofX >= 2 && numbers.length > ofX)
  }
})

test('white space, comments, URLs and the keywords as names are what the specification says', () => {
  const file = `\n# comment\n\t # another\n\twitness \t all  ${vkeys[0]}   https://w.example/  \nwitness any ${vkeys[1]}\ngroup group 2 all any\nlog ${logVkey} https://log.example\n  quorum\tgroup`
  const policy = parse(file)
  expect(policy.logs).toEqual([{ key: log.key, url: 'https://log.example' }])
  expect(policy.witnesses[0]).toEqual({ name: 'all', key: witnesses[0]!.key, url: 'https://w.example/' })
  expect(isEnough(policy, [0, 1], policy)).toBe(true)
  expect(isEnough(policy, [0], policy)).toBe(false)
})

test('a quorum is none, a witness or a group, and any number counts its members', () => {
  expect(parse('quorum none\n')).toEqual({ logs: [], witnesses: [], quorum: 'none' })
  expect(isEnough(parse('quorum none\n'), [], parse(example))).toBe(true)
  const alone = parse(`witness w ${vkeys[0]}\nwitness v ${vkeys[1]}\nquorum w\n`)
  expect([[0], [1], []].map((numbers) => isEnough(alone, numbers, alone))).toEqual([true, false, false])
  for (const [count, enough] of [
    ['any', 1],
    ['1', 1],
    ['2', 2],
    ['3', 3],
    ['all', 3],
  ] as const) {
    const names = [0, 1, 2].map((i) => `witness ${i} ${vkeys[i]}\n`).join('')
    const policy = parse(`${names}group g ${count} 0 1 2\nquorum g\n`)
    for (const numbers of [[], [2], [0, 2], [0, 1, 2]])
      expect(isEnough(policy, numbers, policy)).toBe(numbers.length >= enough)
  }
})

const octets = (text: string) => Buffer.from(text, 'latin1')

test('names are octets: those that are no UTF-8, or look alike, are others', () => {
  const kelvin = parse(`witness K ${vkeys[0]}\nwitness \u212a ${vkeys[1]}\nquorum \u212a\n`)
  expect(isEnough(kelvin, [1], kelvin)).toBe(true)
  expect(isEnough(kelvin, [0], kelvin)).toBe(false)
  const invalid = parse(octets(`witness w\u0080 ${vkeys[0]}\nwitness w\u0081 ${vkeys[1]}\nquorum w\u0081\n`))
  expect(isEnough(invalid, [1], invalid)).toBe(true)
  expect(isEnough(invalid, [0], invalid)).toBe(false)
  // A no-break space separates nothing.
  expect(parse(`witness a\u00a0b ${vkeys[0]}\nquorum a\u00a0b\n`).witnesses[0]?.name).toBe('a\u00a0b')
})

const w1 = `witness w1 ${vkeys[0]}\n`
const w2 = `witness w2 ${vkeys[1]}\n`
test.each([
  ['quorum none\n\u0001', 'line 2 of the policy: it holds a control character'],
  ['quorum none\r\n', 'line 1 of the policy: it holds a control character'],
  ['quorum none\n# \u007f', 'line 2 of the policy: it holds a control character'],
  ['\n\nquibble w1\n', "line 3 of the policy: 'quibble' is not one of its keywords"],
  ['constructor x\n', "line 1 of the policy: 'constructor' is not one of its keywords"],
  [`witness w1 ${vkeys[1]} https://w.example # comment\n`, 'line 1 of the policy: a witness has a name'],
  ['log\n', 'line 1 of the policy: a log has a key'],
  ['log garbage\n', 'line 1 of the policy: a verifier key is a name'],
  [`log ${logVkey.replace(/\+......../, '+00000000')}\n`, 'line 1 of the policy: the verifier key'],
  [`log ${vkeys[1]}\n`, 'line 1 of the policy: a key of type ed25519-cosignature cannot sign here'],
  [`log ${logVkey}\nlog ${logVkey} https://log.example\n`, 'line 2 of the policy: the public key is that of'],
  ['witness w1\n', 'line 1 of the policy: a witness has a name, a key'],
  [`witness w1 ${logVkey}\n`, 'line 1 of the policy: a key of type ed25519 cannot sign here'],
  [`witness none ${vkeys[0]}\n`, "line 1 of the policy: the name 'none' is reserved"],
  [`${w1}witness w1 ${vkeys[1]}\n`, "line 2 of the policy: 'w1' is defined twice"],
  [`${w1}witness w2 ${vkeys[0]}\n`, 'line 2 of the policy: the public key is that of'],
  [`${w1}group w1 any w1\n`, "line 2 of the policy: 'w1' is defined twice"],
  [`${w1}group g 1\n`, 'line 2 of the policy: a group has a name'],
  [`${w1}group none any w1\n`, "line 2 of the policy: the name 'none' is reserved"],
  [`${w1}group g 0 w1\n`, 'line 2 of the policy: the number of members must be from 1 to 1, and is 0'],
  [`${w1}group g -1 w1\n`, 'line 2 of the policy: the number of members is not a decimal number'],
  [`${w1}group g 01 w1\n`, 'line 2 of the policy: the number of members is not a decimal number'],
  [`${w1}group g 2 w1\n`, 'line 2 of the policy: the number of members must be from 1 to 1, and is 2'],
  [`${w1}group g any w2\n`, "line 2 of the policy: 'w2' is not defined on a line before"],
  [`group g any w1\n${w1}`, "line 1 of the policy: 'w1' is not defined on a line before"],
  [`${w1}group g any none w1\n`, "line 2 of the policy: 'none' is not defined on a line before"],
  [`${w1}group g any g\n`, "line 2 of the policy: 'g' is not defined on a line before"],
  [`${w1}group g all w1 w1\n`, "line 2 of the policy: 'w1' is a member of a group already"],
  [
    `${w1}${w2}group g any w1 w2\ngroup h any w1\n`,
    "line 4 of the policy: 'w1' is a member of a group already",
  ],
  [w1, 'the policy has no quorum line'],
  ['', 'the policy has no quorum line'],
  [`${w1}quorum w1\nquorum w1\n`, 'line 3 of the policy: there is a quorum on a line before'],
  ['quorum unknown\n', "line 1 of the policy: 'unknown' is not defined on a line before"],
  [`quorum w1\n${w1}`, "line 1 of the policy: 'w1' is not defined on a line before"],
  ['quorum\n', 'line 1 of the policy: a quorum is one name'],
  [`${w1}quorum w1 w1\n`, 'line 2 of the policy: a quorum is one name'],
])('%j is refused', (file, message) => {
  expect(() => parse(file)).toThrow(message)
})

test('32 logs, witnesses and groups are read, and a file without end is refused', () => {
  const many = Array.from({ length: 32 }, (_, i) => aSigner(`w${i}`, 'ed25519-cosignature'))
  const groups = many.map((_, i) => `group g${i} all w${i}${i === 0 ? '' : ` g${i - 1}`}\n`)
  const lines = many.map(({ key }, i) => `witness w${i} ${formatVkey(key)}\n`)
  const policy = parse(`${lines.join('')}${groups.join('')}quorum g31\n`)
  const all = many.map((_, i) => i)
  expect(isEnough(policy, all, policy)).toBe(true)
  expect(isEnough(policy, all.slice(1), policy)).toBe(false)
  const endless = Array.from({ length: 600 }, (_, i) => `group h${i} any ${i === 0 ? 'w1' : `h${i - 1}`}\n`)
  expect(() => parse(`${w1}${endless.join('')}quorum h1\n`)).toThrow(
    'there are too many witnesses and groups',
  )
})

const open = (note: string, by: LogPolicy = parse(example)) => openByPolicy(note, by, noteCrypto)

describe('a checkpoint', () => {
  const checkpoint = { origin, size: 3, root: new Uint8Array(32).fill(1) }
  test('with a quorum is accepted, and says which witnesses of the policy cosigned', () => {
    const note = signed(checkpoint, [log, witnesses[0]!, witnesses[2]!, witnesses[4]!])
    expect(open(note).cosignedBy.map(({ name }) => name)).toEqual(['X1', 'X3', 'Y2'])
  })

  test('without one is refused, and the error says who cosigned', () => {
    expect(() => open(signed(checkpoint, [log, witnesses[0]!, witnesses[4]!]))).toThrow(
      "the quorum 'X-and-Y' is not met: the checkpoint is cosigned by 'X1', 'Y2'",
    )
    const stranger = aSigner('witness.example/w1', 'ed25519-cosignature')
    expect(() => open(signed(checkpoint, [log, stranger]))).toThrow('is cosigned by no witness')
  })

  test('that no log of the policy signed is refused, whoever cosigned', () => {
    expect(() => open(signed(checkpoint, [mlDsaLog, ...witnesses]))).toThrow('is not signed by a trusted key')
    expect(open(signed(checkpoint, [mlDsaLog]), policyOfKeys([mlDsaLog.key])).signedBy).toHaveLength(1)
    expect(() => open(signed(checkpoint, witnesses), parse('quorum none\n'))).toThrow('is not signed')
  })

  test('that was published with four cosignatures meets a quorum of four', () => {
    const { note, vkeys: published } = publishedNote('arche2025h1')
    const [ofLog, ...others] = published
    const lines = others.map((vkey, i) => `witness ${i} ${vkey}\n`).join('')
    const four = parse(`log ${ofLog}\n${lines}group g all 0 1 2 3\nquorum g\n`)
    expect(open(note, four).cosignedBy).toHaveLength(4)
    const line = note.split('\n').find((one) => one.includes('remora.n621.de'))!
    expect(() => open(note.replace(`${line}\n`, ''), four)).toThrow("the quorum 'g' is not met")
  })
})

test('one public key under two names is one witness, and is refused the second time', () => {
  const { type, publicKey } = witnesses[1]!.key
  const impostor = formatVkey(verifierKey({ name: 'impostor.example', type, publicKey }, sha256))
  expect(() => parse(`${w2}witness w3 ${impostor}\n`)).toThrow(
    "line 2 of the policy: the public key is that of 'witness.example/w1' already",
  )
})
