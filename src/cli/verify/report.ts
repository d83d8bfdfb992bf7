// The page of `countersign verify --report`: for a reader who knows the business and no JSON. One file without script and external content;
// text of evidence is escaped, and its control characters are replaced.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { printable } from '../../formats/text/printable.ts'
import { Unusable, type Report, type Verdict } from '../../formats/verifier/index.ts'
import { gather, type Overview, type Piece } from '../../formats/verifier/overview.ts'
import {
  CHANGES,
  CONTRADICTED,
  contradictedText,
  exceptionsLeftText,
  exceptionTables,
  kindTitle,
  periodFacts,
  placeOf,
  restTables,
  timeText,
  totalsTable,
  type TextTable,
} from '../../formats/verifier/overview-tables.ts'
import { NOTHING_MISSING, notProven } from '../../formats/verifier/not-proven.ts'
import { codeOf } from './inputs.ts'
import { exitCodeOf, noteLines, type Counts, type Summary } from '../../formats/verifier/summary.ts'
import { escapeHtml } from '../../formats/text/text.ts'

/** In a folder of evidence from somebody else, a link may lead anywhere, and a pipe would wait for its reader. */
const WRITABLE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** How many keys are listed. */
const KEYS_MAX = 200

/** Facts that only the command knows that made the files of the evidence. */
export interface ReportAbout {
  /** Names and values, for the top of the page. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** Sentences that stand above all others. */
  readonly warnings: readonly string[]
  /** Sentences about the comparison with the log, the first of which sums them up. */
  readonly completeness: readonly string[]
  /** 0: everything that the log counts is there, and everything that is there is in the log. 1: it is not. 2: that could not be checked. */
  readonly completenessCode: 0 | 1 | 2
  /** Whether the evidence was compared with a log. */
  readonly isCompared: boolean
  /** Executions that have neither record nor refusal. */
  readonly inDoubt: readonly DoubtRow[]
  /** The values of a delivery and of the request, where they differ, by confirmationId. */
  readonly differences: ReadonlyMap<string, string>
  /** Policy versions that no change put in effect: they were there at the first start, ISO 8601. */
  readonly firstPolicies: readonly { readonly version: string; readonly at: string }[]
}

/** Texts; '' where a value is not known. */
export interface DoubtRow {
  /** When it was released, ISO 8601. */
  readonly at: string
  readonly action: string
  readonly target: string
  readonly amount: string
  /** The purpose: the other parameters. */
  readonly about: string
  readonly callerId: string
  readonly state: string
  /** Approvers and closers, each list by `, ` or ` and `. */
  readonly approvedBy: string
  readonly closedBy: string
  /** Whether somebody who approved it also closed it. */
  readonly isBoth: boolean
  /** The note of its closer. */
  readonly note: string
  /** ISO 8601. */
  readonly closedAt: string
  readonly id: string
}

export interface HashedFile {
  readonly name: string
  readonly sha256: string
}

export interface ReportFile {
  readonly add: (piece: Piece & { readonly report: Report }) => void
  /** Writes the file. @param files the files from which the evidence was read */
  readonly end: (summary: Summary, files: readonly HashedFile[], about?: ReportAbout) => Promise<void>
}

/** @throws Unusable where the file cannot be written: before anything is verified */
export async function openReport(path: string): Promise<ReportFile> {
  let file: FileHandle
  try {
    file = await open(path, WRITABLE)
  } catch (error) {
    throw new Unusable(`${path} cannot be written (${codeOf(error)}): a report is a plain file, and no link.`)
  }
  const found = await file.stat()
  // A hard link is a file with another name that is not visible here.
  if (!found.isFile() || found.nlink > 1) {
    await file.close()
    throw new Unusable(`${path} is no plain file with one name: write the report to another one.`)
  }
  await file.truncate()
  const gathering = gather()
  /** A file beside the report or below it is named relative to the report: both are copied together. */
  const fromReport = (name: string) => {
    const from = relative(dirname(path), name)
    return name === '-' || from.startsWith('..') ? name : from
  }
  const keys = new Map<string, string>()
  return {
    add(one) {
      gathering.add({ ...one, file: fromReport(one.file) })
      for (const { keyId, fingerprint } of one.report.keys)
        if (keys.size < KEYS_MAX) keys.set(keyId, fingerprint)
    },
    async end(summary, files, about) {
      const named = files.map(({ name, sha256 }) => ({ name: fromReport(name), sha256 }))
      await file.writeFile(pageOf({ summary, overview: gathering.overview(), keys, files: named, about }))
      await file.close()
    },
  }
}

interface Shown {
  readonly summary: Summary
  readonly overview: Overview
  readonly keys: ReadonlyMap<string, string>
  readonly files: readonly HashedFile[]
  readonly about: ReportAbout | undefined
}

const HEADLINES = [
  { mark: '✓', tone: 'valid', text: 'Everything that was checked is what the service signed, unchanged.' },
  { mark: '✗', tone: 'invalid', text: 'Some evidence is not what the service signed. It is listed first.' },
  {
    mark: '?',
    tone: 'unchecked',
    text: 'Nothing was found to be wrong, and something could not be checked.',
  },
] as const

const COMPLETENESS = {
  0: [],
  1: [
    {
      mark: '✗',
      tone: 'invalid',
      text: 'Something that the evidence log counts is not here, or something that is here is not in the log.',
    },
  ],
  2: [
    {
      mark: '?',
      tone: 'unchecked',
      text: 'Whether something is missing could not be checked, or not wholly.',
    },
  ],
} as const

const VERDICTS: Readonly<Record<Verdict, string>> = {
  valid: '✓ valid',
  invalid: '✗ NOT VALID',
  unchecked: '? cannot be checked',
}

function pageOf({ summary, overview, keys, files, about }: Shown): string {
  const headlines = [
    ...COMPLETENESS[about?.completenessCode ?? 0],
    HEADLINES[exitCodeOf(summary)],
    ...contradictedText(overview).map((text) => ({ mark: '!', tone: 'unchecked', text })),
  ]
  const kinds = Object.entries(summary.kinds) as [Report['artifact'], Counts][]
  const limits = new Set(kinds.flatMap(([kind]) => (kind === 'unknown' ? [] : notProven(kind))))
  if (about?.isCompared === true && limits.delete(NOTHING_MISSING)) limits.add(NOTHING_UNLOGGED)
  const sections = sectionsOf({ summary, overview, keys, files, about })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Countersign verification report</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>Verification report</h1>
${(about?.warnings ?? []).map((line) => `<p class="headline unchecked"><span aria-hidden="true">!</span> ${escaped(line)}</p>`).join('\n')}
${headlines
  .map((one) => `<p class="headline ${one.tone}"><span aria-hidden="true">${one.mark}</span> ${one.text}</p>`)
  .join('\n')}
${noteLines(summary)
  .map((line) => `<p class="missing">${escaped(line)}</p>`)
  .join('\n')}
${factsOf(overview, about)}
${completenessOf(about)}
${textTable(totalsTable(overview))}
</header>
<nav aria-labelledby="contents">
<h2 id="contents">Contents</h2>
<ol>
${[...sections, LIMITS].map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('\n')}
</ol>
</nav>
${sections.map(({ id, content }) => `<section id="${id}">\n${content}\n</section>`).join('\n')}
<section id="${LIMITS.id}">
<h2>${LIMITS.title}</h2>
<ul>
${Array.from(limits, (limit) => `<li>${escaped(limit)}</li>`).join('\n')}
</ul>
</section>
</main>
</body>
</html>
`
}

/** A part of the page that the contents lead to. */
interface Section {
  readonly id: string
  readonly title: string
  /** HTML; it includes the title. */
  readonly content: string
}

const LIMITS = { id: 'limits', title: 'What this report does not prove' } as const

function sectionsOf({ summary, overview, keys, files, about }: Shown): Section[] {
  const kinds = Object.entries(summary.kinds) as [Report['artifact'], Counts][]
  const own = [
    {
      id: 'exceptions',
      title: 'Exceptions',
      content: `<h2>Exceptions</h2>\n${exceptionsOf(overview, about)}`,
    },
  ]
  const rest = restTables(overview).map((one): [string, string] => [one.caption, textTable(one)])
  const changes = rest.flatMap(([title, content]) => (title === CHANGES ? [content] : []))
  const others = rest.filter(([title]) => title !== CHANGES)
  const first = table(
    'Policies that were there at the first start, which nobody had to approve',
    ['Policy', 'First start'],
    (about?.firstPolicies ?? []).map(({ version, at }) => [version, timeText(at)]),
  )
  const tables: [title: string, content: string][] = [
    [CHANGES, [...changes, first].join('\n')],
    ...others,
    [
      'What was checked',
      table(
        'What was checked',
        ['Evidence', 'valid', 'NOT VALID', 'cannot be checked'],
        [
          ...kinds.map(([kind, ofKind]) => [kindTitle(kind), ...numbers(ofKind)]),
          ['In all', ...numbers(summary)],
        ],
      ),
    ],
    [
      'Files',
      table(
        'Files',
        ['File', 'SHA-256'],
        files.map(({ name, sha256 }) => [name, sha256]),
        'mono',
      ),
    ],
    [
      KEYS_TITLE,
      table(
        KEYS_TITLE,
        ['Key', 'SHA-256 of the public key: compare it through another channel'],
        [...keys],
        'mono',
      ),
    ],
  ]
  return [
    ...own,
    ...tables.flatMap(([title, content]) => (content === '' ? [] : [{ id: idOf(title), title, content }])),
  ]
}

const KEYS_TITLE = 'Keys by which signatures held'

const idOf = (title: string) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

function numbers({ valid, invalid, unchecked }: Counts): string[] {
  return [valid, invalid, unchecked].map(String)
}

function factsOf(overview: Overview, about: ReportAbout | undefined): string {
  return definitions([...(about?.facts ?? []), ...periodFacts(overview)])
}

function definitions(facts: readonly (readonly [name: string, value: string])[]): string {
  if (facts.length === 0) return ''
  return `<dl>${facts.map(([name, value]) => `<div><dt>${escaped(name)}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>`
}

function completenessOf(about: ReportAbout | undefined): string {
  const [sum, ...more] = about?.completeness ?? [
    'These files were not compared with the evidence log: something may be missing.',
  ]
  const meaning = about?.isCompared === true ? [COUNTING] : []
  return `<p class="missing"><strong>${escaped(sum ?? '')}</strong></p>
${[...meaning, ...more].map((line) => `<p class="missing">${escaped(line)}</p>`).join('\n')}`
}

const COUNTING =
  'The evidence log has one entry for each execution that was released and for each refusal; the first number is how many of the period have their evidence here. Executions in doubt, whose outcome is not known yet, are not counted; those that were closed without a record are.'
/** In place of `NOTHING_MISSING`. */
const NOTHING_UNLOGGED =
  'That everything was logged, or that you were shown the same log as others: the comparison above proves that nothing is missing that this log counts. Compare its checkpoint with one that somebody else saved.'

/** An execution in doubt has neither record nor refusal: the page says where it would stand, also where nobody asked. */
function exceptionsOf(overview: Overview, about: ReportAbout | undefined): string {
  const { invalid, unchecked } = overview
  const { inDoubt } = about ?? {}
  const tables = exceptionTables(overview, about?.differences)
  const [contradicted, others] = [tables.filter(isContradicted), tables.filter((one) => !isContradicted(one))]
  const isNone = [invalid, unchecked, tables, inDoubt ?? []].every(({ length }) => length === 0)
  return `${
    inDoubt === undefined
      ? '<p>Executions in doubt are not in these files: they have neither record nor refusal. <code>countersign audit-pack</code> fetches them.</p>'
      : ''
  }
${isNone && inDoubt !== undefined ? '<p>None.</p>' : ''}
${contradicted.map(textTable).join('\n')}
<ol class="pieces">
${[...invalid, ...unchecked].map(piece).join('\n')}
</ol>
${exceptionsLeftText(overview)
  .map((line) => `<p class="missing">${line}</p>`)
  .join('\n')}
${table(
  'In doubt or closed without a record: released, and no record of the outcome',
  [
    'When',
    'Action',
    'Target',
    'Amount',
    'For',
    'Caller',
    'State',
    'Approved by',
    'Closed by',
    'Why',
    'Closed at',
    'Id',
  ],
  (inDoubt ?? []).map((one) => [
    timeText(one.at),
    one.action,
    one.target,
    one.amount,
    one.about,
    one.callerId,
    one.state,
    one.approvedBy,
    one.isBoth ? `${one.closedBy} (! also approved it)` : one.closedBy,
    one.note,
    timeText(one.closedAt),
    one.id,
  ]),
)}
${others.map(textTable).join('\n')}`
}

const isContradicted = ({ caption }: TextTable) => caption === CONTRADICTED

function piece(one: Piece): string {
  const { report, account } = one
  const { artifact, verdict, checks, notes } = report
  const said = [...(account?.said ?? []), ['Evidence', placeOf(one)] as const]
  const problems = [
    ...checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])),
    ...(artifact === 'unknown' ? notes : []),
  ]
  return `<li class="${verdict}"><h3>${VERDICTS[verdict]}: ${kindTitle(artifact)}</h3>
${definitions(said)}
${problems.length === 0 ? '' : `<ul class="problems">${problems.map((text) => `<li>${escaped(text)}</li>`).join('')}</ul>`}</li>`
}

function textTable({ caption, columns, rows, note }: TextTable): string {
  if (rows.length === 0) return ''
  return `${table(caption, columns, rows)}${note === undefined ? '' : `\n<p class="quiet">${escaped(note)}</p>`}`
}

/** Nothing where there are no rows. */
function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  className = '',
): string {
  if (rows.length === 0) return ''
  // On a phone a table scrolls by itself, also by the keyboard.
  return `<div class="scroll" role="region" tabindex="0" aria-label="${caption}"><table class="${className}"><caption>${caption}</caption>
<thead><tr>${columns.map((column) => `<th scope="col">${column}</th>`).join('')}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`).join('\n')}</tbody></table></div>`
}

const escaped = (text: string) => escapeHtml(printable(text))

/** In the colours of `src/server/pages/colors.css`: a report is one file, which loads nothing. */
const STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2524, #dfe6e4);
  --quiet: light-dark(#5a6664, #93a09d);
  --paper: light-dark(#ffffff, #14191a);
  --shade: light-dark(#f2f5f4, #1e2526);
  --line: light-dark(#d8dfdd, #323c3b);
  --good: light-dark(#17653a, #7fd6a2);
  --bad: light-dark(#a32020, #f39a92);
  --open: light-dark(#7a4d00, #e5bb6a);
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0 0 0.5rem; font-size: 1rem; }
.headline { padding: 0.75rem 1rem; border: 2px solid; border-radius: 0.5rem; font-size: 1.15rem; font-weight: 600; }
.quiet { margin: 0.25rem 0; color: var(--quiet); }
.missing { margin: 0.5rem 0; padding-left: 0.75rem; border-left: 4px solid var(--open); overflow-wrap: anywhere; }
.valid h3, .headline.valid { color: var(--good); }
.invalid h3, .headline.invalid, .invalid .problems { color: var(--bad); }
.unchecked h3, .headline.unchecked, .unchecked .problems { color: var(--open); }
.scroll { overflow-x: auto; margin: 1.5rem 0; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding-bottom: 0.5rem; font-size: 1.25rem; font-weight: 600; text-align: left; }
th, td { padding: 0.35rem 0.4rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
td:first-child { min-width: 6rem; }
.mono td { font-family: ui-monospace, monospace; font-size: 0.875rem; }
.pieces { padding: 0; list-style: none; }
.pieces > li { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-left-width: 4px; border-radius: 0.25rem; background: var(--shade); }
.pieces > li.valid { border-left-color: var(--good); }
.pieces > li.invalid { border-left-color: var(--bad); }
.pieces > li.unchecked { border-left-color: var(--open); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 0.25rem 1rem; margin: 0; }
dt { color: var(--quiet); font-size: 0.875rem; }
dd { margin: 0; overflow-wrap: anywhere; }
nav ol { columns: 2 20rem; }
.problems { margin: 0.5rem 0 0; padding-left: 1.25rem; }
@media print {
  :root {
    color-scheme: light;
    --ink: #000000; --quiet: #333333; --line: #888888; --shade: #ffffff;
  }
  .pieces > li, tr { break-inside: avoid; }
  nav { break-after: page; }
  h2, caption, thead { break-after: avoid; }
  a { color: inherit; }
  html { font-size: 8pt; }
  body { line-height: 1.25; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; margin: 0.75rem 0; }
  table { font-size: 0.875rem; }
  th, td { padding: 0.1rem 0.25rem; }
  td:first-child { min-width: 0; }
}
@page { size: landscape; margin: 10mm; }
`
