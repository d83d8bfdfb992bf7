// Why the database refuses to store evidence, in memory that all threads of an instance share: it outlives the thread that found out.
// While there is a fault no execution is admitted (docs/design-notes.md "A database that refuses evidence").
import { uuidOf } from '../../formats/bytes.ts'

/** The SQLSTATE as a number of base 36, 0 where there is no fault; then the 16 bytes of an id. */
export type StoreFaultMemory = Int32Array<SharedArrayBuffer>

export interface StoreFault {
  readonly memory: StoreFaultMemory
  /** The SQLSTATE of the last refusal; undefined while evidence is stored. */
  readonly sqlState: () => string | undefined
  /** The transaction whose evidence was refused last. */
  readonly businessTransactionId: () => string
  readonly raise: (sqlState: string, businessTransactionId: string) => void
  readonly clear: () => void
}

/** @param memory shared by the threads of the instance; by default a new one without a fault */
export function openStoreFault(
  memory: StoreFaultMemory = new Int32Array(new SharedArrayBuffer(5 * Int32Array.BYTES_PER_ELEMENT)),
): StoreFault {
  const id = Buffer.from(memory.buffer, Int32Array.BYTES_PER_ELEMENT)
  const set = (number: number) => {
    Atomics.store(memory, 0, number)
    Atomics.notify(memory, 0)
  }
  return {
    memory,
    sqlState() {
      const number = Atomics.load(memory, 0)
      return number === 0 ? undefined : number.toString(36).toUpperCase().padStart(5, '0')
    },
    businessTransactionId: () => uuidOf(id.toString('hex')),
    raise(sqlState, businessTransactionId) {
      id.write(businessTransactionId.replaceAll('-', ''), 'hex')
      set(Number.parseInt(sqlState, 36))
    },
    clear: () => set(0),
  }
}

/** Calls `onChange` whenever a fault begins, becomes another one or ends (undefined), for as long as the process lives. */
export async function watchStoreFault(
  { memory, sqlState }: StoreFault,
  onChange: (sqlState: string | undefined) => void,
): Promise<never> {
  let known = 0
  for (;;) {
    await Atomics.waitAsync(memory, 0, known).value
    const number = Atomics.load(memory, 0)
    if (number !== known) onChange(sqlState())
    known = number
  }
}
