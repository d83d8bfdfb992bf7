// The offline verifier page shows an outcome so. Evidence is anyone's text: it enters the page as text nodes only, never as HTML.
import { printable } from '../../src/formats/text/printable.ts'
import { isOpen, type Report } from '../../src/formats/verifier/index.ts'
import { summaryLines, type Summary } from '../../src/formats/verifier/summary.ts'
import { described } from '../../src/formats/verifier/kinds.ts'
import type { Overview } from '../../src/formats/verifier/overview.ts'
import {
  contradictedText,
  exceptionTables,
  periodFacts,
  restTables,
  totalsTable,
  type TextTable,
} from '../../src/formats/verifier/overview-tables.ts'

/** Verified, or not checkable for a reason. */
export type Outcome =
  { readonly name: string; readonly report: Report } | { readonly name: string; readonly reason: string }

type Child = Node | string

const SHOWN_MAX = 500
/** Of more valid pieces a reader wants the tables. */
const OPEN_MAX = 5

const VERDICTS = {
  valid: { title: 'VALID', mark: '✓' },
  invalid: { title: 'NOT VALID', mark: '✗' },
  unchecked: { title: 'CANNOT BE CHECKED', mark: '?' },
} as const
type Kind = keyof typeof VERDICTS

function artifactTitle(artifact: Report['artifact']): string {
  return artifact === 'unknown' ? 'No evidence' : described(artifact).title
}

/**
 * Replaces what the element holds.
 * @returns the sentence that sums it up
 */
export function showResults(
  place: HTMLElement,
  outcomes: readonly Outcome[],
  { summary, overview }: { readonly summary: Summary; readonly overview: Overview },
): string {
  // Failures stand first, and are never among those that are not shown.
  const shown = outcomes.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, SHOWN_MAX)
  const articles = (ones: readonly Outcome[]) => ones.map((one) => article(one, outcomes.length > 1))
  if (outcomes.length === 1) place.replaceChildren(...articles(shown))
  else {
    const valid = shown.filter((one) => kindOf(one) === 'valid')
    place.replaceChildren(
      ...articles(shown.slice(0, shown.length - valid.length)),
      ...overviewElements(overview),
      ...(valid.length === 0 ? [] : [eachValid(articles(valid))]),
    )
  }
  if (shown.length < outcomes.length)
    place.append(
      element('p', '', `${outcomes.length - shown.length} more are counted above, without their checks.`),
    )
  const [only] = outcomes
  // The verdict first: no name that follows can write over it.
  if (outcomes.length === 1 && only !== undefined && summary.cutShort.length === 0)
    return `${VERDICTS[kindOf(only)].title}: ${printable(only.name)}`
  return summaryLines(summary).join('\n')
}

const ORDER: readonly Kind[] = ['invalid', 'unchecked', 'valid']
const rankOf = (outcome: Outcome) => ORDER.indexOf(kindOf(outcome))

function kindOf(outcome: Outcome): Kind {
  if (!('report' in outcome)) return 'unchecked'
  return outcome.report.verdict
}

/** One of many shows its details when it is opened, unless they say what is wrong. */
function article(outcome: Outcome, oneOfMany: boolean): HTMLElement {
  const kind = kindOf(outcome)
  const { title, mark } = VERDICTS[kind]
  const sign = element('span', '', `${mark} `)
  sign.setAttribute('aria-hidden', 'true')
  const heading = element('h3', '', sign, title)
  const name = value('p', outcome.name)
  if (!('report' in outcome)) return element('article', kind, heading, name, value('p', outcome.reason))
  const { artifact, subject } = outcome.report
  const what = element('p', '', `${artifactTitle(artifact)} `, value('span', subject))
  const content = details(outcome.report)
  if (!oneOfMany || kind !== 'valid') return element('article', kind, heading, name, what, ...content)
  return element('article', kind, heading, name, what, folded('Checks and keys', content))
}

function eachValid(articles: readonly HTMLElement[]): HTMLElement {
  const made = folded('Each valid piece by itself', articles)
  made.open = articles.length <= OPEN_MAX
  return made
}

/** As the report of `countersign verify` shows them. */
function overviewElements(overview: Overview): HTMLElement[] {
  const exceptions = exceptionTables(overview)
  return [
    ...contradictedText(overview).map((text) => value('p', text, 'no-key')),
    ...periodFacts(overview).map((fact) => value('p', fact.join(': '))),
    ...[totalsTable(overview)].flatMap(textTable),
    element('h3', '', 'Exceptions'),
    ...(exceptions.length === 0
      ? [element('p', '', 'None among what is valid.')]
      : exceptions.flatMap(textTable)),
    element(
      'p',
      'state',
      'Executions in doubt are not in these files: they have neither record nor refusal. countersign audit-pack fetches them.',
    ),
    ...restTables(overview).flatMap(textTable),
  ]
}

/** Nothing where there are no rows. A wide table scrolls by itself, also by the keyboard. */
function textTable({ caption, columns, rows, note }: TextTable): HTMLElement[] {
  if (rows.length === 0) return []
  const cells = rows.map((row) => row.map((cell) => value('td', cell)))
  const area = element('div', 'scroll', table(caption, columns, cells))
  area.tabIndex = 0
  area.setAttribute('role', 'region')
  area.setAttribute('aria-label', caption)
  return [area, ...(note === undefined ? [] : [element('p', 'state', note)])]
}

function folded(title: string, content: readonly HTMLElement[]): HTMLDetailsElement {
  const made = document.createElement('details')
  made.append(element('summary', '', title), ...content)
  return made
}

function details({ checks, keys, notes, notProven }: Report): HTMLElement[] {
  const checkRows = checks.map((check) => [
    // Ours, not a stranger's: it breaks between its words only.
    element('td', '', check.name),
    check.problem === undefined
      ? element('td', '', 'holds')
      : value('td', check.problem, isOpen(check) ? 'no-key' : 'failed'),
  ])
  const isKeyMissing = checks.some(({ missingKeys }) => missingKeys !== undefined)
  const isLogMissing = checks.some(({ missingLog }) => missingLog !== undefined)
  const keyRows = keys.map(({ keyId, algorithm, fingerprint }) => [
    mono('td', keyId),
    value('td', algorithm),
    mono('td', fingerprint),
  ])
  return [
    table('Checks', ['Check', 'Outcome'], checkRows),
    keyRows.length === 0
      ? element('p', '', 'No key of the key set was used.')
      : table(
          'Keys used: compare their fingerprints through another channel',
          ['Key id', 'Algorithm', 'SHA-256 of the public key'],
          keyRows,
        ),
    ...(isKeyMissing
      ? [element('p', '', 'A key that is not given is at GET /keys/{keyId} of the service: add its answer.')]
      : []),
    ...(isLogMissing
      ? [
          element(
            'p',
            '',
            'The keys of a log are at GET /.well-known/countersign-log of the service: give its saved answer above.',
          ),
        ]
      : []),
    ...(notes.length === 0 ? [] : sentences('Worth knowing', notes)),
    ...(notProven.length === 0 ? [] : sentences('What a pass does not prove', notProven)),
  ]
}

function sentences(title: string, items: readonly string[]): HTMLElement[] {
  return [element('h4', '', title), element('ul', '', ...items.map((item) => value('li', item)))]
}

function table(caption: string, columns: readonly string[], rows: readonly (readonly Node[])[]): HTMLElement {
  const head = columns.map((column) => {
    const cell = element('th', '', column)
    cell.setAttribute('scope', 'col')
    return cell
  })
  return element(
    'table',
    '',
    element('caption', '', caption),
    element('thead', '', element('tr', '', ...head)),
    element('tbody', '', ...rows.map((cells) => element('tr', '', ...cells))),
  )
}

/** Text of a stranger: characters that are not seen, or that turn the direction of others, are replaced. */
function value(tag: string, text: string, ...classes: readonly string[]): HTMLElement {
  return element(tag, ['value', ...classes].join(' '), printable(text))
}

function mono(tag: string, text: string): HTMLElement {
  return value(tag, text, 'mono')
}

/** `append` makes a text node of every string: markup in it is shown, not read. */
function element(tag: string, className: string, ...children: readonly Child[]): HTMLElement {
  const made = document.createElement(tag)
  if (className !== '') made.className = className
  made.append(...children)
  return made
}
