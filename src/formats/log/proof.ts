// C2SP tlog-proof: a file that proves that an entry is in a log, without any further answer of the log.
import { base64, toBase64 } from '../base64.ts'
import { parseHash, parseInteger, PATH_MAX } from './checkpoint.ts'
import { wellFormedText } from './note.ts'

export interface LogProof {
  /** The index of the entry, from 0. */
  readonly index: number
  /** From the leaf up, 32 bytes each. */
  readonly path: readonly Uint8Array[]
  /** The signed note, as the log published it. */
  readonly checkpoint: string
  /** Not signed: its content must be proven otherwise, as the path proves an entry. */
  readonly extra?: Uint8Array
}

const HEADER = 'c2sp.org/tlog-proof@v1'

/** The text of a `.tlog-proof` file. */
export function formatProof({ index, path, checkpoint, extra }: LogProof): string {
  const lines = [
    HEADER,
    ...(extra === undefined ? [] : [`extra ${toBase64(extra)}`]),
    `index ${index}`,
    ...path.map(toBase64),
  ]
  return `${lines.join('\n')}\n\n${checkpoint}`
}

/** @throws Error with the reason why it is not a proof; its content is not checked */
export function parseProof(file: string | Uint8Array): LogProof {
  const text = wellFormedText(file, 'the proof')
  const blank = text.indexOf('\n\n')
  if (blank === -1) throw new Error('the proof has no blank line before its checkpoint')
  const [header, ...lines] = text.slice(0, blank).split('\n')
  if (header !== HEADER) throw new Error(`the first line of the proof is not '${HEADER}'`)
  const extra = lines[0]?.startsWith('extra ') === true ? extraOf(lines.shift()!) : undefined
  const [, index] = /^index (.*)$/.exec(lines.shift() ?? '') ?? []
  if (index === undefined) throw new Error('the proof has no index line where it belongs')
  if (lines.length > PATH_MAX)
    throw new Error(`the path of the proof has ${lines.length} hashes; at most ${PATH_MAX} are read`)
  return {
    index: parseInteger(index, 'the index of the proof'),
    path: lines.map((line, height) => parseHash(line, `path hash ${height} of the proof`)),
    checkpoint: text.slice(blank + 2),
    ...(extra && { extra }),
  }
}

function extraOf(line: string): Uint8Array {
  const extra = base64(line.slice('extra '.length))
  if (extra === undefined || extra.length === 0)
    throw new Error('the extra line of the proof is not canonical base64')
  return extra
}
