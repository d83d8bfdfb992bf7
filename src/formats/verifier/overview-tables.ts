// The tables of an overview, in words: the report of `countersign verify` renders them as HTML, the page /verifier as elements. Browser-safe.
import { counted } from '../text/text.ts'
import type { Report } from './index.ts'
import { described } from './kinds.ts'
import {
  amountOf,
  LARGEST_MAX,
  ROWS_MAX,
  UNUSUAL_TIMES,
  USUAL_MIN,
  type AboveUsual,
  type Contradiction,
  type Overview,
  type Piece,
  type Sum,
} from './overview.ts'

export interface TextTable {
  readonly caption: string
  readonly columns: readonly string[]
  /** Cells contain untrusted texts of evidence. */
  readonly rows: readonly (readonly string[])[]
  /** A sentence about the table, or about omitted rows. */
  readonly note?: string
}

export function totalsTable({ totals }: Overview): TextTable {
  return {
    caption: 'What happened, as far as it is valid',
    columns: ['Action', 'How it ended', 'How many', 'Amounts'],
    rows: totals.map((sum) => sumCells(sum, 2)),
    note: 'Amounts are the parameters amount and currency of the actions; a number alone has no currency. What was refused until humans approve may stand here again as asked for and as done: do not add these lines.',
  }
}

/** Shown above everything else if there are any contradictions. */
export function contradictedText({ contradicted, exceptionsLeft: left }: Overview): string[] {
  const count = contradicted.length + left.contradicted
  return count === 0
    ? []
    : [
        `${counted(count, 'statement')} of payment providers ${count === 1 ? 'says' : 'say'} otherwise than what is recorded: see “${CONTRADICTED}”.`,
      ]
}

export const CONTRADICTED = 'Providers say otherwise'

/**
 * The valid evidence that an auditor looks at first.
 * @param differences differing values of a confirmation's delivery and the transaction, by confirmationId, if the files' maker had both
 */
export function exceptionTables(
  { contradicted, aboveUsual, failed, exceptionsLeft: left }: Overview,
  differences: ReadonlyMap<string, string> = new Map(),
): TextTable[] {
  return [
    {
      caption: CONTRADICTED,
      columns: [
        'When',
        'Provider',
        'It says',
        'What is recorded',
        'Action',
        'Target',
        'Amount',
        'For',
        'What does not agree',
        'Id and where',
      ],
      rows: contradicted.map((one) => contradictedCells(one, differences)),
      note: `A provider's signed delivery says something else than the evidence of the execution, or does not speak of the same. It undoes nothing: ask the provider.${left.contradicted > 0 ? ` ${counted(left.contradicted, 'statement')} more: not listed.` : ''}`,
    },
    {
      caption: 'Approved above usual',
      columns: ['When', 'Action', 'Target', 'Amount', 'For', 'Usual', 'Times', ...ENDS],
      rows: aboveUsual.map((one) => aboveUsualCells(one)),
      note: `Approved by humans, and more than ${UNUSUAL_TIMES} times the median of what the same action had on the same target before, in the same currency and in these files, where there were at least ${USUAL_MIN}.${left.aboveUsual > 0 ? ` ${leftNote(left.aboveUsual)}` : ''}`,
    },
    { ...executionsTable('Not done', failed), ...(left.failed > 0 ? { note: leftNote(left.failed) } : {}) },
  ].filter(({ rows }) => rows.length > 0)
}

const leftNote = (left: number) =>
  `These are the first ${ROWS_MAX} in the order of the files; ${counted(left, 'execution')} more: in the totals and not listed.`

/** The sentences below the lists of invalid and unchecked pieces when there are too many to list. */
export function exceptionsLeftText({ exceptionsLeft: { invalid, unchecked } }: Overview): string[] {
  return [
    ...(invalid > 0 ? [`${counted(invalid, 'piece')} more: invalid, counted above and not listed.`] : []),
    ...(unchecked > 0
      ? [`${counted(unchecked, 'piece')} more: could not all be checked, counted above and not listed.`]
      : []),
  ]
}

/** The tables of all other valid evidence: changes and approvers, each execution, then the rest. */
export function restTables({
  changes,
  changesLeft,
  approvers,
  approved,
  approvedLeft,
  largest,
  executions,
  days,
  others,
  othersLeft,
}: Overview): TextTable[] {
  return [
    {
      caption: CHANGES,
      columns: [
        'When',
        'Change',
        'Why',
        'Proposed by',
        'How it ended',
        'Who resolved it, key and time',
        'Id and where',
      ],
      rows: changes
        .flatMap((one) => {
          const { change } = one.account ?? {}
          return change === undefined ? [] : [{ one, change }]
        })
        .toSorted((a, b) => (a.change.at < b.change.at ? -1 : Number(a.change.at > b.change.at)))
        .map(({ one, change }) => [
          timeText(change.at),
          change.what,
          change.why,
          change.proposedBy,
          CHANGE_ENDS[change.status] ?? change.status,
          change.resolved,
          placeOf(one),
        ]),
      ...(changesLeft > 0
        ? { note: `${counted(changesLeft, 'change')} more: counted above and not listed.` }
        : {}),
    },
    {
      caption: 'Who approved',
      columns: ['Approver', 'Actions'],
      rows: approvers.map(({ names, count }) => [names.join(' '), `${count}`]),
    },
    {
      caption: 'Approved by humans',
      columns: [
        'When',
        'Action',
        'Target',
        'Amount',
        'For',
        'How it ended',
        'Policy',
        'Who, key and time',
        'Id and where',
      ],
      rows: approved.map((one) => [
        ...actionCells(one),
        sayingOf(one, 'What was done'),
        sayingOf(one, 'Under policy'),
        (one.account?.approvals ?? []).join('; '),
        placeOf(one),
      ]),
      note:
        approvedLeft > 0
          ? `The first ${ROWS_MAX} in the order of the files; ${approvedLeft} more are in the totals.`
          : 'All of them, in the order of the files.',
    },
    {
      ...executionsTable('The largest amounts', largest),
      note: `Of each currency the ${LARGEST_MAX} largest that were released, also where the next table has no room for them.`,
    },
    executionsTable('Executions and refusals', executions),
    {
      caption: `The others, after the first ${ROWS_MAX}, by day`,
      columns: ['Day', 'Action', 'How it ended', 'How many', 'Amounts'],
      rows: days.map((sum) => sumCells(sum, 3)),
    },
    {
      caption: 'Other evidence: requests and events',
      columns: ['Evidence', 'What it says', 'Where'],
      rows: others.map((one) => [
        kindTitle(one.report.artifact),
        (one.account?.said ?? []).map(([name, value]) => `${name}: ${value}`).join('; '),
        placeOf(one),
      ]),
      ...(othersLeft > 0
        ? { note: `${counted(othersLeft, 'piece')} more: counted above and not listed.` }
        : {}),
    },
  ].filter(({ rows }) => rows.length > 0)
}

/** Name and value of the period of the evidence; none when it states no time. */
export function periodFacts({ period }: Overview): (readonly [name: string, value: string])[] {
  if (period === undefined) return []
  return [['The evidence is of', `${timeText(period.first)} to ${timeText(period.last)}`]]
}

export function kindTitle(artifact: Report['artifact']): string {
  return artifact === 'unknown' ? 'No evidence' : described(artifact).plainTitle
}

/** An ISO time in UTC, to the second. */
export function timeText(at: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(at) ? `${at.slice(0, 10)} ${at.slice(11, 19)} UTC` : at
}

/** The id by which the service finds it, the businessTransactionId if there is one, and its place in the files. */
export function placeOf({ file, line, report, account }: Piece): string {
  return `${account?.execution || report.subject} in ${file}${line === undefined ? '' : `, line ${line}`}`
}

/** The columns at the end of a row about an execution. */
const ENDS = ['How it ended', 'Asked by', 'Approved by', 'Id and where']

function executionsTable(caption: string, pieces: readonly Piece[]): TextTable {
  return {
    caption,
    columns: ['When', 'Action', 'Target', 'Amount', 'For', ...ENDS],
    rows: pieces.map((one) => [...actionCells(one), ...endCells(one)]),
  }
}

function aboveUsualCells(one: AboveUsual): string[] {
  const { action } = one.account ?? {}
  const times = (action?.amount ?? 0) / one.usual
  return [
    ...actionCells(one),
    amountOf({ ...action, amount: one.usual }),
    Number.isFinite(times) ? `${times < 10 ? times.toFixed(1) : Math.round(times)}` : '',
    ...endCells(one),
  ]
}

function actionCells({ account }: Piece): string[] {
  const { action } = account ?? {}
  if (action === undefined) return ['', '', '', '', '']
  return [timeText(action.at), action.name, action.target, amountOf(action), action.about ?? '']
}

function contradictedCells(
  { piece, word, execution, ended, action }: Contradiction,
  differences: ReadonlyMap<string, string>,
): string[] {
  const said = differences.get(word.confirmationId) ?? word.differing.join('; ')
  return [
    timeText(word.at),
    word.provider,
    SAYS[word.says] ?? word.says,
    ended,
    action?.name ?? '',
    action?.target ?? '',
    action === undefined ? '' : amountOf(action),
    action?.about ?? '',
    said,
    `${execution} in ${piece.file}${piece.line === undefined ? '' : `, line ${piece.line}`}`,
  ]
}

const SAYS: Readonly<Record<string, string>> = {
  executed: 'it was executed',
  not_executed: 'it was not executed',
  pending: 'it is under way',
}

/** The section of the changes, which stands before the executions. */
export const CHANGES = 'Changes of rules and people'
const CHANGE_ENDS: Readonly<Record<string, string>> = {
  PENDING_APPROVAL: 'waits for a second human',
  APPROVED: 'approved',
  REJECTED: 'rejected',
}

function endCells(one: Piece): string[] {
  return [
    sayingOf(one, 'What was done'),
    sayingOf(one, 'Asked by'),
    (one.account?.approvers ?? []).join(', '),
    placeOf(one),
  ]
}

function sayingOf({ account }: Pick<Piece, 'account'>, about: string): string {
  return account?.said.find(([name]) => name === about)?.[1] ?? ''
}

/** @param names number of cells for the names of a sum: sums that do not fit are combined under one name */
function sumCells({ names: given, count, amounts }: Sum, names: number): string[] {
  const empty = Array.from({ length: names - given.length }, () => '')
  return [...given, ...empty, `${count}`, amounts.join('; ')]
}
