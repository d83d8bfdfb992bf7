// The page of `countersign verify --report`: for a reader who knows the business and no JSON. One file without script and without
// anything from elsewhere; text of evidence is escaped, and its control characters are replaced.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { printable } from '../../formats/text/printable.ts'
import type { Ending } from '../../formats/artifacts/account-text.ts'
import type { Account } from '../../formats/verifier/account.ts'
import { described } from '../../formats/verifier/kinds.ts'
import { Unusable, type Report, type Verdict } from '../../formats/verifier/index.ts'
import { notProven } from '../../formats/verifier/not-proven.ts'
import { codeOf } from './inputs.ts'
import { exitCodeOf, noteLines, type Counts, type Summary } from '../../formats/verifier/summary.ts'
import { escapeHtml } from '../../formats/text/text.ts'

/** In a folder of evidence that somebody sent a link may lead anywhere, and a pipe would wait for its reader. */
const WRITABLE = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Rows that a page holds: of invalid and of valid evidence. */
const ROWS_MAX = 1_000
/** Actions, approvers and keys that are counted by name. */
const NAMES_MAX = 200

interface Row {
  readonly file: string
  readonly line: number | undefined
  readonly report: Report
  readonly account: Account | undefined
}

export interface ReportFile {
  readonly add: (row: Row) => void
  /** Writes the file. */
  readonly end: (summary: Summary) => Promise<void>
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
  const rows: Record<Verdict, Row[]> = { invalid: [], unchecked: [], valid: [] }
  const actions = openTally()
  const approvers = openTally()
  const keys = new Map<string, string>()
  return {
    add(row) {
      const { report, account } = row
      const ofVerdict = rows[report.verdict]
      if (ofVerdict.length < ROWS_MAX) ofVerdict.push(row)
      for (const { keyId, fingerprint } of report.keys)
        if (keys.size < NAMES_MAX) keys.set(keyId, fingerprint)
      if (account === undefined || report.verdict !== 'valid') return
      if (account.action !== undefined) actions.add(account.action.name, account.action.ending)
      for (const name of account.approvers) approvers.add(name, APPROVED)
    },
    async end(summary) {
      await file.writeFile(pageOf({ summary, rows, actions: actions.all, approvers: approvers.all, keys }))
      await file.close()
    },
  }
}

const APPROVED = 'approved'

/** How often each name came, by what. */
type Tally = ReadonlyMap<string, Readonly<Record<string, number>>>

function openTally(): {
  readonly all: Tally
  readonly add: (name: string, what: Ending | typeof APPROVED) => void
} {
  const all = new Map<string, Record<string, number>>()
  return {
    all,
    add(name, what) {
      const counts = all.get(name) ?? {}
      if (all.has(name) || all.size < NAMES_MAX) all.set(name, counts)
      counts[what] = (counts[what] ?? 0) + 1
    },
  }
}

interface Shown {
  readonly summary: Summary
  readonly rows: Readonly<Record<Verdict, readonly Row[]>>
  readonly actions: Tally
  readonly approvers: Tally
  readonly keys: ReadonlyMap<string, string>
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

const VERDICTS: Readonly<Record<Verdict, string>> = {
  valid: '✓ valid',
  invalid: '✗ NOT VALID',
  unchecked: '? cannot be checked',
}

function kindTitle(artifact: Report['artifact']): string {
  return artifact === 'unknown' ? 'No evidence' : described(artifact).plainTitle
}

function pageOf({ summary, rows, actions, approvers, keys }: Shown): string {
  const { mark, tone, text } = HEADLINES[exitCodeOf(summary)]
  const shown = [...rows.invalid, ...rows.unchecked, ...rows.valid]
  const kinds = Object.entries(summary.kinds) as [Report['artifact'], Counts][]
  const limits = new Set(kinds.flatMap(([kind]) => (kind === 'unknown' ? [] : notProven(kind))))
  const left = summary.pieces - shown.length
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
<h1>Verification report</h1>
<p class="headline ${tone}"><span aria-hidden="true">${mark}</span> ${text}</p>
${noteLines(summary)
  .map((line) => `<p class="missing">${escaped(line)}</p>`)
  .join('\n')}
${table(
  'What was checked',
  ['Evidence', 'valid', 'NOT VALID', 'cannot be checked'],
  [...kinds.map(([kind, ofKind]) => [kindTitle(kind), ...numbers(ofKind)]), ['In all', ...numbers(summary)]],
)}
${table(
  'What was asked for, as far as it is valid',
  ['Action', 'How it ended'],
  Array.from(actions, ([name, endings]) => [
    name,
    Object.entries(endings)
      .map(([ending, count]) => `${ending}: ${count}`)
      .join('; '),
  ]),
)}
${table(
  'Who approved',
  ['Approver', 'Actions'],
  Array.from(approvers, ([name, { [APPROVED]: count }]) => [name, `${count}`]),
)}
<h2>Each piece of evidence</h2>
<p class="quiet">What stands here is what the evidence says. Only the verdict beside it says whether that was signed so.${
    left > 0 ? ` ${left} more are counted above and not listed; invalid evidence comes first.` : ''
  }</p>
<ol class="pieces">
${shown.map(piece).join('\n')}
</ol>
${table('Keys by which signatures held', ['Key', 'SHA-256 of the public key: compare it through another channel'], [...keys], 'mono')}
<h2>What this report does not prove</h2>
<ul>
${Array.from(limits, (limit) => `<li>${escaped(limit)}</li>`).join('\n')}
</ul>
</main>
</body>
</html>
`
}

function numbers({ valid, invalid, unchecked }: Counts): string[] {
  return [valid, invalid, unchecked].map(String)
}

function piece({ file, line, report, account }: Row): string {
  const { artifact, verdict, subject, checks, notes } = report
  const place = `${subject} in ${file}${line === undefined ? '' : `, line ${line}`}`
  const said = [...(account?.said ?? []), ['Evidence', place] as const]
  const problems = [
    ...checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])),
    ...(artifact === 'unknown' ? notes : []),
  ]
  return `<li class="${verdict}"><h3>${VERDICTS[verdict]}: ${kindTitle(artifact)}</h3>
<dl>${said.map(([about, text]) => `<div><dt>${about}</dt><dd>${escaped(text)}</dd></div>`).join('')}</dl>
${problems.length === 0 ? '' : `<ul class="problems">${problems.map((one) => `<li>${escaped(one)}</li>`).join('')}</ul>`}</li>`
}

/** Nothing where there are no rows. */
function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  className = '',
): string {
  if (rows.length === 0) return ''
  return `<table class="${className}"><caption>${caption}</caption>
<thead><tr>${columns.map((column) => `<th scope="col">${column}</th>`).join('')}</tr></thead>
<tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`).join('\n')}</tbody></table>`
}

const escaped = (text: string) => escapeHtml(printable(text))

const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1d21; --faint: #5a606b; --line: #c5cad3; --zone: #f5f7fa;
  --valid: #0b6b34; --invalid: #a8071a; --unchecked: #7a4a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15171b; --ink: #e8eaee; --faint: #a6adb9; --line: #434954; --zone: #1e2127;
    --valid: #6fd597; --invalid: #ff8f97; --unchecked: #f0b95c;
  }
}
@media print {
  :root {
    --paper: #ffffff; --ink: #000000; --faint: #333333; --line: #888888; --zone: #ffffff;
    --valid: #0b6b34; --invalid: #a8071a; --unchecked: #7a4a00;
  }
  .pieces > li { break-inside: avoid; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 2rem 0 0.5rem; font-size: 1.25rem; }
h3 { margin: 0 0 0.5rem; font-size: 1rem; }
.headline { padding: 0.75rem 1rem; border: 2px solid; border-radius: 0.5rem; font-size: 1.15rem; font-weight: 600; }
.quiet { margin: 0.25rem 0; color: var(--faint); }
.missing { margin: 0.5rem 0; padding-left: 0.75rem; border-left: 4px solid var(--unchecked); overflow-wrap: anywhere; }
.valid h3, .headline.valid { color: var(--valid); }
.invalid h3, .headline.invalid, .invalid .problems { color: var(--invalid); }
.unchecked h3, .headline.unchecked, .unchecked .problems { color: var(--unchecked); }
table { width: 100%; margin: 1.5rem 0; border-collapse: collapse; }
caption { padding-bottom: 0.5rem; font-size: 1.25rem; font-weight: 600; text-align: left; }
th, td { padding: 0.35rem 0.4rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
td:first-child { min-width: 6rem; }
.mono td { font-family: ui-monospace, monospace; font-size: 0.875rem; }
.pieces { padding: 0; list-style: none; }
.pieces > li { margin: 0 0 0.75rem; padding: 0.75rem 1rem; border: 1px solid var(--line); border-left-width: 4px; border-radius: 0.25rem; background: var(--zone); }
.pieces > li.valid { border-left-color: var(--valid); }
.pieces > li.invalid { border-left-color: var(--invalid); }
.pieces > li.unchecked { border-left-color: var(--unchecked); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 0.25rem 1rem; margin: 0; }
dt { color: var(--faint); font-size: 0.875rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.problems { margin: 0.5rem 0 0; padding-left: 1.25rem; }
`
