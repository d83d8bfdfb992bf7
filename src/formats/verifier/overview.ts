// The overview of many pieces of evidence, for a reader who knows the business: sums, exceptions and rows. The report of
// `countersign verify` and the page /verifier show it. Its memory is bounded, for any number of pieces. Browser-safe.
import type { ActionText, ProviderWord } from '../artifacts/account-text.ts'
import type { Account } from './account.ts'
import type { Report } from './index.ts'

/** Maximum rows of each list; further pieces are counted by day. */
export const ROWS_MAX = 1_000
/** Number of largest executions of each currency that are always listed. */
export const LARGEST_MAX = 20
/** Maximum number of actions, currencies, approvers and days that are counted by name. */
const NAMES_MAX = 400

/** An approved amount is unusual above this many times the median of earlier amounts of the same action, target and currency. */
export const UNUSUAL_TIMES = 3
/** Fewer earlier executions do not show the usual amount; of more than `USUAL_MAX` the newest count. */
export const USUAL_MIN = 3
const USUAL_MAX = 100
/** Maximum number of actions on targets whose amounts are kept; the amounts of others are not compared. */
const TARGETS_MAX = 10_000
/** Maximum number of executions whose end is kept for later statements of providers; beyond it only the statement itself is compared. */
const ENDED_MAX = 10_000

export interface Piece {
  readonly file: string
  readonly line: number | undefined
  readonly report: Pick<Report, 'artifact' | 'subject' | 'verdict' | 'checks' | 'notes'>
  readonly account: Account | undefined
}

/** Pieces that are counted together. */
export interface Sum {
  readonly names: readonly string[]
  readonly count: number
  /** By currency, `1,234.50 EUR`; a sum without a currency is only the number. */
  readonly amounts: readonly string[]
}

/** An approved execution with its amount and the median of earlier ones, in the order of the files. */
export interface AboveUsual extends Piece {
  readonly usual: number
}

/** A provider's statement that contradicts the evidence of the execution, or the request. */
export interface Contradiction {
  readonly piece: Piece
  readonly word: ProviderWord
  /** The businessTransactionId. */
  readonly execution: string
  /** How the execution ended, in words; '' when there is no evidence of it here. */
  readonly ended: string
  readonly action: ActionText | undefined
}

export interface Overview {
  /** The first and the last time in valid pieces about an action; undefined when there is none. */
  readonly period: { readonly first: string; readonly last: string } | undefined
  /** By action and end. */
  readonly totals: readonly Sum[]
  readonly approvers: readonly Sum[]
  readonly invalid: readonly Piece[]
  readonly unchecked: readonly Piece[]
  /** Valid executions that were not carried out. */
  readonly failed: readonly Piece[]
  /** Statements of providers that contradict the valid evidence of an execution. */
  readonly contradicted: readonly Contradiction[]
  /** Valid executions, carried out or not, above the usual amount on their target: `UNUSUAL_TIMES`. */
  readonly aboveUsual: readonly AboveUsual[]
  /** Number of pieces that did not fit into each of these lists. */
  readonly exceptionsLeft: Readonly<
    Record<'invalid' | 'unchecked' | 'failed' | 'contradicted' | 'aboveUsual', number>
  >
  /** Valid executions that humans approved, in the order of the files. */
  readonly approved: readonly Piece[]
  /** Number of executions that did not fit into `approved`. */
  readonly approvedLeft: number
  /** If `executions` could not hold all: the largest valid released executions of each currency, largest first. */
  readonly largest: readonly Piece[]
  /** Valid records and refusals, in the order of the files. */
  readonly executions: readonly Piece[]
  /** Executions that did not fit into `executions`, by day, action and end. */
  readonly days: readonly Sum[]
  /** Valid changes of rules and people. */
  readonly changes: readonly Piece[]
  readonly changesLeft: number
  /** Other valid evidence: requests and events. */
  readonly others: readonly Piece[]
  /** Number of valid pieces that did not fit into `others`. */
  readonly othersLeft: number
}

const EXECUTIONS: ReadonlySet<string> = new Set(['trust-record', 'refusal-record', 'bundle'])

export interface Gathering {
  readonly add: (piece: Piece) => void
  readonly overview: () => Overview
}

export function gather(): Gathering {
  const lists = {
    invalid: list(),
    unchecked: list(),
    failed: list(),
    approved: list(),
    executions: list(),
    changes: list(),
    others: list(),
  }
  const largest = openLargest()
  const aboveUsual = list<AboveUsual>()
  const usualBefore = openUsual()
  const words = openWords()
  const [totals, approvers, days] = [openSums(), openSums(), openSums()]
  let [first, last] = [undefined as string | undefined, undefined as string | undefined]
  return {
    add(piece) {
      const { report, account } = piece
      if (report.verdict !== 'valid') {
        lists[report.verdict].add(piece)
        return
      }
      const { action, approvers: people = [] } = account ?? {}
      words.add(piece)
      for (const name of people) approvers.add([name])
      if (action !== undefined) {
        totals.add([action.name, action.ending], action)
        if (action.at !== '' && (first === undefined || action.at < first)) first = action.at
        if (action.at !== '' && (last === undefined || action.at > last)) last = action.at
      }
      if (action === undefined || !EXECUTIONS.has(report.artifact)) {
        if (account?.change === undefined) lists.others.add(piece)
        else lists.changes.add(piece)
        return
      }
      if (action.ending === 'Not done') lists.failed.add(piece)
      if (people.length > 0) lists.approved.add(piece)
      const isRefused = action.ending === 'Refused' || action.ending === 'Refused until humans approve'
      if (!isRefused) largest.add(piece)
      const usual = isRefused ? undefined : usualBefore(action)
      // If a policy allowed an action by itself, nobody approved it; and a number without a currency is no amount of money.
      const isApproved = people.length > 0 && (action.currency ?? '') !== ''
      if (isApproved && usual !== undefined && (action.amount ?? 0) > UNUSUAL_TIMES * usual)
        aboveUsual.add({ ...piece, usual })
      if (!lists.executions.add(piece)) days.add([action.at.slice(0, 10), action.name, action.ending], action)
    },
    overview: () => ({
      contradicted: words.contradictions().slice(0, ROWS_MAX),
      period: first === undefined || last === undefined ? undefined : { first, last },
      totals: totals.all(),
      approvers: approvers.all(),
      invalid: lists.invalid.rows,
      unchecked: lists.unchecked.rows,
      failed: lists.failed.rows,
      aboveUsual: aboveUsual.rows,
      exceptionsLeft: {
        invalid: lists.invalid.left(),
        unchecked: lists.unchecked.left(),
        failed: lists.failed.left(),
        contradicted: words.left() + Math.max(0, words.contradictions().length - ROWS_MAX),
        aboveUsual: aboveUsual.left(),
      },
      approved: lists.approved.rows,
      approvedLeft: lists.approved.left(),
      largest: lists.executions.left() > 0 ? largest.all() : [],
      executions: lists.executions.rows,
      days: days.all(),
      changes: lists.changes.rows,
      changesLeft: lists.changes.left(),
      others: lists.others.rows,
      othersLeft: lists.others.left(),
    }),
  }
}

interface Ended {
  readonly ended: string
  readonly action: ActionText | undefined
}

/** Collects statements of providers and the ends of the executions that they are about, in any order. */
function openWords() {
  const said: { readonly piece: Piece; readonly word: ProviderWord; readonly execution: string }[] = []
  const spokenOf = new Set<string>()
  const endings = new Map<string, Ended>()
  let left = 0
  return {
    /** Number of differing statements that were not kept. */
    left: () => left,
    add(piece: Piece): void {
      const { execution = '', words = [], action, closedAs = '' } = piece.account ?? {}
      if (execution === '') return
      for (const word of words) {
        if (said.length >= ENDED_MAX) {
          if (word.differing.length > 0) left++
          continue
        }
        said.push({ piece, word, execution })
        spokenOf.add(execution)
      }
      if (action === undefined && closedAs === '') return
      if (!spokenOf.has(execution) && endings.size >= ENDED_MAX) return
      const ended = action === undefined ? closedText(closedAs) : action.ending
      endings.set(execution, { ended, action: action ?? endings.get(execution)?.action })
    },
    contradictions(): Contradiction[] {
      return said.flatMap((one) => {
        const { ended = '', action } = endings.get(one.execution) ?? {}
        const isContradicted = one.word.differing.length > 0 || contradicts(one.word.says, ended)
        return isContradicted ? [{ ...one, ended, action }] : []
      })
    },
  }
}

/** The same conclusion that the service draws from a provider's statement (workers/webhooks/conclude.ts). */
function contradicts(says: string, ended: string): boolean {
  if (ended === '') return false
  if (ended.startsWith('Refused')) return says !== 'not_executed'
  const wasExecuted = ended === 'Done, as the connector reported' || ended === closedText('EXECUTED')
  return (says === 'executed' && !wasExecuted) || (says === 'not_executed' && wasExecuted)
}

/** The end of an execution in doubt as stated by the party that closed it, in words; '' for any other value. */
export function closedText(resolution: string): string {
  if (resolution === 'EXECUTED') return 'closed as executed'
  return resolution === 'NOT_EXECUTED' ? 'closed as not executed' : ''
}

/** A list of at most `ROWS_MAX` pieces, which counts the rest. */
function list<Row = Piece>() {
  const rows: Row[] = []
  let left = 0
  return {
    rows,
    left: () => left,
    /** @returns whether there was room */
    add(row: Row): boolean {
      if (rows.length < ROWS_MAX) return rows.push(row) > 0
      left++
      return false
    },
  }
}

/** The pieces with the largest amounts, by currency. */
function openLargest() {
  const kept = new Map<string, Piece[]>()
  const sizeOf = ({ account }: Piece) => Math.abs(account?.action?.amount ?? 0)
  return {
    add(piece: Piece): void {
      const { amount, currency } = piece.account?.action ?? {}
      if (amount === undefined || currency === undefined) return
      const before = kept.get(currency) ?? []
      if (before.length === 0 && kept.size >= NAMES_MAX) return
      const least = before.at(-1)
      if (before.length >= LARGEST_MAX && least !== undefined && sizeOf(piece) <= sizeOf(least)) return
      const sorted = [...before, piece].toSorted((a, b) => sizeOf(b) - sizeOf(a))
      kept.set(currency, sorted.slice(0, LARGEST_MAX))
    },
    all: (): Piece[] => [...kept].toSorted(byCurrency).flatMap(([, pieces]) => pieces),
  }
}

/** @returns the median of earlier amounts, if there were enough; then adds the amount for the next call */
function openUsual() {
  const amounts = new Map<string, number[]>()
  return ({ name, target, amount, currency = '' }: ActionText): number | undefined => {
    if (amount === undefined) return undefined
    const key = JSON.stringify([name, target, currency])
    const before = amounts.get(key)
    if (before === undefined) {
      if (amounts.size < TARGETS_MAX) amounts.set(key, [amount])
      return undefined
    }
    const usual = before.length < USUAL_MIN ? undefined : medianOf(before)
    before.push(amount)
    if (before.length > USUAL_MAX) before.shift()
    return usual
  }
}

/** @param numbers at least one */
function medianOf(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  const [upper = 0, lower = upper] = [sorted[half], sorted[half - 1]]
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2
}

function openSums() {
  const sums = new Map<string, { names: readonly string[]; count: number; amounts: Map<string, bigint> }>()
  return {
    add(names: readonly string[], { amount, currency = '' }: Partial<ActionText> = {}): void {
      const key = JSON.stringify(sums.size < NAMES_MAX || sums.has(JSON.stringify(names)) ? names : OTHERS)
      const sum = sums.get(key) ?? {
        names: JSON.parse(key) as string[],
        count: 0,
        amounts: new Map<string, bigint>(),
      }
      sums.set(key, sum)
      sum.count++
      const { amounts } = sum
      if (amount === undefined || (amounts.size >= NAMES_MAX && !amounts.has(currency))) return
      amounts.set(currency, (amounts.get(currency) ?? 0n) + millionths(amount))
    },
    all: (): Sum[] =>
      [...sums.values()].map(({ names, count, amounts }) => ({
        names,
        count,
        amounts: Array.from(amounts)
          .toSorted(byCurrency)
          .map(([currency, sum]) => amountText(sum, currency)),
      })),
  }
}

/** The order of currencies in every table. */
const byCurrency = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) =>
  a < b ? -1 : Number(a > b)

/** Everything whose name did not fit into the sums. */
const OTHERS = ['all others']

/** Exact for decimal fractions, unlike sums of floating-point numbers. */
function millionths(amount: number): bigint {
  return BigInt(Math.round(amount * 1e6))
}

function amountText(sum: bigint, currency: string): string {
  const digits = (sum < 0n ? -sum : sum).toString().padStart(7, '0')
  const [whole, fraction] = [digits.slice(0, -6), digits.slice(-6).replace(/0+$/, '')]
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')
  const text = `${sum < 0n ? '-' : ''}${grouped}${fraction === '' ? '' : `.${fraction.padEnd(2, '0')}`}`
  return currency === '' ? text : `${text} ${currency}`
}

/** The amount of one action, such as `84,250.75 EUR`; '' when there is none. */
export function amountOf({ amount, currency = '' }: Pick<ActionText, 'amount' | 'currency'>): string {
  return amount === undefined ? '' : amountText(millionths(amount), currency)
}
