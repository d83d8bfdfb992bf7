// C2SP tlog-witness: the request that asks a witness to cosign a checkpoint. Browser-safe.
import { toBase64 } from '../base64.ts'
import { parseHash, parseInteger } from './checkpoint.ts'
import { wellFormedText } from './note.ts'

export interface AddCheckpoint {
  /** The size of the witness's tree; 0 when it has none. */
  readonly oldSize: number
  /** Consistency proof from that tree to the checkpoint's, 32 bytes each; empty from 0. */
  readonly proof: readonly Uint8Array[]
  /** The signed note. */
  readonly checkpoint: string
}

const PROOF_LINES_MAX = 63

/** The body of a request. */
export function formatAddCheckpoint({ oldSize, proof, checkpoint }: AddCheckpoint): string {
  return `old ${oldSize}\n${proof.map((hash) => `${toBase64(hash)}\n`).join('')}\n${checkpoint}`
}

/** @throws Error with the reason why it is no such request; does not check the checkpoint in it */
export function parseAddCheckpoint(body: string | Uint8Array): AddCheckpoint {
  const text = wellFormedText(body, 'the request')
  const blank = text.indexOf('\n\n')
  if (blank === -1) throw new Error('the request has no empty line before its checkpoint')
  const [first = '', ...lines] = text.slice(0, blank).split('\n')
  if (!first.startsWith('old ')) throw new Error("the first line of the request does not begin with 'old '")
  if (lines.length > PROOF_LINES_MAX)
    throw new Error(`the request has ${lines.length} proof lines; at most ${PROOF_LINES_MAX} are read`)
  const proof = lines.map((line, i) => parseHash(line, `proof line ${i + 1}`))
  return {
    oldSize: parseInteger(first.slice('old '.length), 'the old size'),
    proof,
    checkpoint: text.slice(blank + 2),
  }
}
