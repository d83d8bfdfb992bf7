// countersign verify: reads evidence and key sets from files and prints the findings of src/formats/verifier. It needs no service, no
// database and no network.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { errorText } from '../formats/text/error-text.ts'
import { printable, printableJson } from '../formats/text/printable.ts'
import { isOpen, noEvidence, Unusable, type Report, type Verdict } from '../formats/verifier/index.ts'
import {
  exitCodeOf,
  openSummary,
  summaryLines,
  type Summary,
  type Summing,
} from '../formats/verifier/summary.ts'
import {
  codeOf,
  findFiles,
  nameOf,
  readBatches,
  readKeySetText,
  readText,
  type Batch,
} from './verify/inputs.ts'
import type { Given } from './command.ts'
import { openReport, type HashedFile, type ReportAbout, type ReportFile } from './verify/report.ts'
import type { verify } from './verify/spec.ts'
import { trustedBy, type Done, type Task, type TrustTexts } from './verify/task.ts'
import { runOnThreads } from './verify/threads.ts'

type VerifyRequest = Given<typeof verify>

/** One piece of evidence, and where it stands. */
interface Found extends Done {
  readonly file: string
  /** In a file of lines, from 1. */
  readonly line: number | undefined
}

/**
 * Verifies files and prints a line for each piece of evidence and a summary; for a single piece, each check.
 * @param threadFile the program of a worker thread: it calls `serveTasks`
 * @returns the exit code: 0 all valid, and each export whole; 1 any invalid; 2 none invalid and not all could be checked, or nothing
 *   that can be read, with one sentence on standard error
 */
export async function verifyCommand(request: VerifyRequest, threadFile: URL): Promise<0 | 1 | 2> {
  // A reader such as `head` may stop reading: unread evidence was not verified either.
  process.stdout.on('error', () => process.exit(2))
  try {
    return await verifyFiles(request, threadFile)
  } catch (error) {
    // Nothing was found to be invalid, whatever went wrong: 1 would say so.
    console.error(`countersign: ${printable(errorText(error))}`)
    return 2
  }
}

/**
 * As `verifyCommand`.
 * @param about for the report
 * @throws Unusable where nothing can be read
 */
export async function verifyFiles(
  request: VerifyRequest,
  threadFile: URL,
  about?: ReportAbout,
): Promise<0 | 1 | 2> {
  const { files, jwks, log } = request
  if ([...files, ...jwks, log].filter((path) => path === '-').length > 1)
    throw new Unusable('Standard input can be read only once: give one file as `-`.')
  const trust = { jwks: jwks.map(readKeySetText), log: log === undefined ? undefined : readText(log) }
  // Each thread reads it again: a mistake in it is reported before any evidence is read.
  trustedBy(trust)
  const inputs = await findFiles(files)
  const summing = openSummary()
  const report = request.report === undefined ? undefined : await openReportBeside(request.report, inputs)
  const printer = openPrinter(request, about?.isCompared === true)
  for await (const found of verified(inputs, trust, { ...request, threadFile }, summing)) {
    summing.add(found.report)
    report?.add(found)
    await printer.add(found)
  }
  const summary = summing.summary()
  await report?.end(summary, await Promise.all(inputs.filter((path) => path !== '-').map(hashed)), about)
  await printer.end(summary)
  return exitCodeOf(summary)
}

async function hashed(name: string): Promise<HashedFile> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of createReadStream(name) as AsyncIterable<Buffer>) hash.update(chunk)
  } catch (error) {
    return { name, sha256: `cannot be read (${codeOf(error)})` }
  }
  return { name, sha256: hash.digest('hex') }
}

function openReportBeside(path: string, inputs: readonly string[]): Promise<ReportFile> {
  if (inputs.some((input) => resolve(input) === resolve(path)))
    throw new Unusable(`${path} is evidence: write the report to another file.`)
  return openReport(path)
}

/** Everything that is found, in the order of the files; each file is added to the summary at its end. */
async function* verified(
  inputs: readonly string[],
  trust: TrustTexts,
  { json, report, threadFile }: VerifyRequest & { readonly threadFile: URL },
  summing: Summing,
): AsyncGenerator<Found> {
  async function* tasks(): AsyncGenerator<{ readonly batch: Batch; readonly task: Task }> {
    for (const input of inputs)
      for await (const batch of readBatches(input)) {
        // A single piece is shown with all its checks.
        const detail = json || (inputs.length === 1 && batch.lines === undefined) ? 'whole' : 'short'
        yield { batch, task: { texts: batch.texts, detail, withAccounts: report !== undefined } }
      }
  }
  for await (const { batch, done } of runOnThreads(tasks(), trust, threadFile)) {
    const { file, lines, end, problem } = batch
    if (problem !== undefined)
      yield { file, line: undefined, report: noEvidence(problem), account: undefined }
    for (const [i, ofText] of done.entries())
      for (const one of ofText) yield { ...one, file, line: lines?.[i] }
    if (end !== undefined) summing.addFile(file, end === 'cut short')
  }
}

interface Printer {
  readonly add: (found: Found) => Promise<void>
  readonly end: (summary: Summary) => Promise<void>
}

/** Prints a single piece, each of many pieces, and the end of many. */
interface Style {
  readonly alone: (found: Found) => Promise<void>
  readonly each: (found: Found) => Promise<void>
  readonly end: (summary: Summary) => Promise<void>
}

/** The first piece is held back until there is a second: a single piece is shown with its checks. */
function openPrinter({ json, quiet, files }: VerifyRequest, isCompared: boolean): Printer {
  const style = json ? openJson() : linesOf(isCompared)
  const each = async (found: Found) => {
    if (!quiet || found.report.verdict !== 'valid') await style.each(found)
  }
  let isMany = quiet || files.length > 1
  let waiting: Found | undefined
  return {
    async add(found) {
      if (!isMany && waiting === undefined && found.line === undefined) {
        waiting = found
        return
      }
      isMany = true
      if (waiting !== undefined) await each(waiting)
      waiting = undefined
      await each(found)
    },
    end: (summary) => (waiting === undefined ? style.end(summary) : style.alone(waiting)),
  }
}

const linesOf = (isCompared: boolean): Style => ({
  async alone(found) {
    refuseNone(found)
    const { report } = found
    const { checks, notProven } = report
    await print([
      ...described(report),
      ...(checks.some(({ missingKeys }) => missingKeys !== undefined)
        ? [
            'A key that is not given is at GET /keys/{keyId} of the service: save it, and give it with --jwks.',
            '',
          ]
        : []),
      ...(checks.some(({ missingLog }) => missingLog !== undefined)
        ? [
            'The keys of a log are at GET /.well-known/countersign-log of the service: save the answer, and give it with --log.',
            '',
          ]
        : []),
      'A pass does not prove:',
      ...notProven.map((limit) => `  - ${limit}`),
    ])
  },
  each: (found) => print(shortLines(found)),
  end: (summary) =>
    print([
      ...summaryLines(summary),
      isCompared
        ? 'A pass does not prove that a policy was right or that an effect happened as reported. Whether something is missing is said by the comparison with the log:'
        : 'A pass does not prove that a policy was right, that an effect happened as reported, or that nothing is missing.',
    ]),
})

/** One report, or `{reports, summary}`, written while the evidence is verified. */
function openJson(): Style {
  let written = 0
  const start = () => (written++ === 0 ? '{"reports":[' : ',')
  return {
    async alone(found) {
      refuseNone(found)
      await printJson(JSON.stringify(found.report, undefined, 2))
    },
    each: ({ file, line, report }) => printJson(`${start()}${JSON.stringify({ file, line, ...report })}`),
    end: (summary) => printJson(`${written === 0 ? start() : ''}],"summary":${JSON.stringify(summary)}}`),
  }
}

/** @throws Unusable for a single file that is no evidence at all */
function refuseNone({ file, report: { artifact, notes } }: Found): void {
  if (artifact !== 'unknown') return
  const why = notes.join(' ')
  // A message about an unreadable file begins with its name already.
  throw new Unusable(why.startsWith(nameOf(file)) ? why : `${nameOf(file)}: ${why}`)
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  valid: 'valid',
  invalid: 'INVALID',
  unchecked: 'cannot be checked',
}

function described({ artifact, subject, verdict, checks, keys, notes }: Report): string[] {
  return [
    `${artifact} ${subject}`,
    ...checks.map((check) => (check.problem === undefined ? `  ok      ${check.name}` : problemLine(check))),
    ...notes.map((note) => `  note    ${note}`),
    ...keys.map(({ keyId, fingerprint }) => `  key     ${keyId} SHA-256 ${fingerprint}`),
    VERDICTS[verdict],
    '',
  ]
}

function problemLine(check: Report['checks'][number]): string {
  const outcome = check.unknownMembers !== undefined ? 'UNKNOWN' : isOpen(check) ? 'NO KEY' : 'FAILED'
  return `  ${outcome.padEnd(6)}  ${check.name}: ${check.problem}`
}

/** The verdict first: no name that follows can write over it. */
function shortLines({ file, line, report }: Found): string[] {
  const { artifact, subject, verdict, checks, notes } = report
  const place = line === undefined ? file : `${file}:${line}`
  return [
    `${VERDICTS[verdict].padEnd(17)}  ${artifact} ${subject}  ${place}`,
    ...checks.filter(({ problem }) => problem !== undefined).map(problemLine),
    ...(artifact === 'unknown' ? notes.map((note) => `  note    ${note}`) : []),
  ]
}

/** Text of a stranger reaches no terminal raw. */
function print(lines: readonly string[]): Promise<void> {
  return write(lines.map(printable).join('\n'))
}

function printJson(text: string): Promise<void> {
  return write(printableJson(text))
}

/** Waits where the reader of standard output is slow. */
async function write(text: string): Promise<void> {
  if (!process.stdout.write(`${text}\n`))
    await new Promise<void>((onward) => process.stdout.once('drain', onward))
}
