// The shape of an operation's row, and the kinds of it.

/** The groups of threads. */
export type LaneName = 'execution' | 'large-execution' | 'background' | 'administration'

/** Which budget of thread time a client is charged to. Governing has one of its own: a human who has simulated much can still revoke. */
export type Cost = 'compute' | 'administration'

/** The means by which its client pays. Executions are counted by their rate limit; the service's own work is not charged. */
export type Price = Cost | 'execute limit' | 'own work'

export interface OperationRow {
  readonly price: Price
  readonly lane: Exclude<LaneName, 'large-execution'>
  /** Requests of a batch. */
  readonly countMax: number
  /** Bytes of the bodies of a batch; a single larger body still makes one. */
  readonly bytesMax: number
  /** Batches with the threads at a time; undefined: as many as the lane takes. */
  readonly batchesMax?: number
}

/** Work that the service gives its threads without a request. Its request and its result are JSON; callers never see them. */
export interface OwnWorkRow<Given, Result> extends OperationRow {
  readonly price: 'own work'
  /** Never there: the compiler reads the shapes from it. */
  readonly shapes?: (given: Given) => Result
}

export function ownWork<Given, Result>(row: Omit<OperationRow, 'price'>): OwnWorkRow<Given, Result> {
  return { price: 'own work', ...row }
}

const KIB = 1024
/** A batch shares its commits, and a thread is busy with it for milliseconds. */
export const STORED = { countMax: 128, bytesMax: 256 * KIB }
/** Computed from hostile bodies at up to a millisecond for each 4 KiB: the next client waits for one batch. */
export const COMPUTED = { countMax: 32, bytesMax: 32 * KIB }
/** Deliveries that arrive while one is stored share the next commit, which makes each cheaper (`npm run bench -- webhook`). */
export const ONE = { batchesMax: 1 }
/** Each item alone is long. */
export const ALONE = { countMax: 1, bytesMax: Infinity }
