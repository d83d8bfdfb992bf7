// The fault because of which an instance admits no execution although its database answers, in memory that all of its threads share, so that
// it outlives the thread that found it (docs/design-notes.md "A database that refuses evidence", "What is verified when").
import { uuidOf } from '../../formats/bytes.ts'

/** The fault as a number, 0 for none: a SQLSTATE read in base 36, or `NOT_VERIFIED`. Then the 16 bytes of an id. */
export type EvidenceFaultMemory = Int32Array<SharedArrayBuffer>

/** `not verified`: evidence of this instance did not verify; only a restart ends it. `refused` ends when the database stores evidence again. */
export type EvidenceFault =
  { readonly kind: 'refused'; readonly sqlState: string } | { readonly kind: 'not verified' }

export interface EvidenceFaults {
  readonly memory: EvidenceFaultMemory
  readonly current: () => EvidenceFault | undefined
  /** The transaction whose evidence last revealed a fault. */
  readonly businessTransactionId: () => string
  /** Changes nothing while evidence is `not verified`: only a restart ends that. */
  readonly raise: (fault: EvidenceFault, businessTransactionId: string) => void
  /** Called when the database stores evidence again. */
  readonly endRefused: () => void
}

/** Greater than any SQLSTATE, which has five digits of base 36. */
const NOT_VERIFIED = 36 ** 5

/** @param memory shared by the threads of the instance; by default a new one without a fault */
export function openEvidenceFaults(
  memory: EvidenceFaultMemory = new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT)),
): EvidenceFaults {
  const id = Buffer.from(memory.buffer, Int32Array.BYTES_PER_ELEMENT)
  const set = (number: number) => {
    let before = Atomics.load(memory, 0)
    while (before !== NOT_VERIFIED) {
      const found = Atomics.compareExchange(memory, 0, before, number)
      if (found === before) break
      before = found
    }
    Atomics.notify(memory, 0)
  }
  return {
    memory,
    current: () => faultOf(Atomics.load(memory, 0)),
    businessTransactionId: () => uuidOf(id.toString('hex')),
    raise(fault, businessTransactionId) {
      if (Atomics.load(memory, 0) === NOT_VERIFIED) return
      id.write(businessTransactionId.replaceAll('-', ''), 'hex')
      set(fault.kind === 'refused' ? Number.parseInt(fault.sqlState, 36) : NOT_VERIFIED)
    },
    endRefused: () => set(0),
  }
}

function faultOf(number: number): EvidenceFault | undefined {
  if (number === 0) return undefined
  if (number === NOT_VERIFIED) return { kind: 'not verified' }
  return { kind: 'refused', sqlState: number.toString(36).toUpperCase().padStart(5, '0') }
}

/** Calls `onChange` whenever a fault begins, changes or ends (undefined), for as long as the process lives. */
export async function watchEvidenceFaults(
  { memory }: EvidenceFaults,
  onChange: (fault: EvidenceFault | undefined) => void,
): Promise<never> {
  let known = 0
  for (;;) {
    await Atomics.waitAsync(memory, 0, known).value
    const number = Atomics.load(memory, 0)
    if (number !== known) onChange(faultOf(number))
    known = number
  }
}
