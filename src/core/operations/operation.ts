// The shape of an operation's row, and common batch sizes.

/** The groups of threads. */
export type LaneName = 'execution' | 'large-execution' | 'background' | 'administration'

/** The budget of thread time that pays. Governance has its own budget: a human who has simulated much can still revoke. */
export type Cost = 'compute' | 'administration'

/** How the client pays. Executions are counted by their rate limit; the service's own work is not charged. */
export type Price = Cost | 'execute limit' | 'own work'

export interface OperationRow {
  readonly price: Price
  readonly lane: Exclude<LaneName, 'large-execution'>
  /** Maximum requests in a batch. */
  readonly countMax: number
  /** Maximum bytes of the bodies in a batch; a single larger body still makes a batch. */
  readonly bytesMax: number
  /** Maximum batches that threads run at a time; undefined: as many as the lane takes. */
  readonly batchesMax?: number
}

/** Work that the service gives its threads without a request. Its request and its result are JSON; callers never see them. */
export interface OwnWorkRow<Given, Result> extends OperationRow {
  readonly price: 'own work'
  /** Never set: the compiler reads the shapes from it. */
  readonly shapes?: (given: Given) => Result
}

export function ownWork<Given, Result>(row: Omit<OperationRow, 'price'>): OwnWorkRow<Given, Result> {
  return { price: 'own work', ...row }
}

const KIB = 1024
/** The items of a batch share its commits, and a thread is busy with it for milliseconds. */
export const STORED = { countMax: 128, bytesMax: 256 * KIB }
/** Computed from possibly hostile bodies, at up to a millisecond per 4 KiB: the next client waits for one batch. */
export const COMPUTED = { countMax: 32, bytesMax: 32 * KIB }
/** Deliveries that arrive while one is stored share the next commit, which makes each cheaper (`npm run bench -- webhook`). */
export const ONE = { batchesMax: 1 }
/** Each item alone takes long. */
export const ALONE = { countMax: 1, bytesMax: Infinity }
