// countersign verify: reads evidence and key sets from files and prints what src/verifier finds. It needs no service, no
// database and no network.
import { readFileSync } from 'node:fs'
import { errorText } from '../core/error-text.ts'
import { printable, printableJson } from '../core/printable.ts'
import { isOpen, Unusable, verifyFile, type Report, type Verdict } from '../core/verifier/index.ts'

interface VerifyRequest {
  /** A path; `-` is standard input, for one of all. */
  readonly file: string
  /** Paths of key sets and of single keys: together they are the keys that verify. */
  readonly jwks: readonly string[]
  /** The path of a log description or of a C2SP tlog-policy. */
  readonly log: string | undefined
  readonly json: boolean
}

/**
 * Verifies a file and prints the verdicts.
 * @returns the exit code: 0 all valid; 1 any invalid; 2 none invalid and at least one that cannot be checked, or a file that cannot be
 *   read, with one sentence on standard error
 */
export function verifyCommand({ file, jwks, log, json }: VerifyRequest): 0 | 1 | 2 {
  let reports: Report[]
  try {
    if ([file, ...jwks, log].filter((path) => path === '-').length > 1)
      throw new Unusable('Standard input can be read only once: give one file as `-`.')
    const trust = log === undefined ? {} : { log: readText(log) }
    reports = verifyFile(readText(file), jwks.map(readText), trust)
  } catch (error) {
    // Whatever went wrong, nothing was found to be invalid: 1 would say so.
    console.error(`countersign: ${printable(errorText(error))}`)
    return 2
  }
  if (json)
    console.log(printableJson(JSON.stringify(reports.length === 1 ? reports[0] : reports, undefined, 2)))
  else for (const line of described(reports)) console.log(printable(line))
  return exitCodeOf(reports)
}

export function exitCodeOf(reports: readonly Report[]): 0 | 1 | 2 {
  if (reports.some(({ verdict }) => verdict === 'invalid')) return 1
  return reports.every(({ valid }) => valid) ? 0 : 2
}

/** Throws Unusable. Keeps a BOM, for the parser to refuse. */
function readText(path: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(path === '-' ? 0 : path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new Unusable(`${path} cannot be read (${code}).`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Unusable(`${path} is not UTF-8 text.`)
  }
}

function described(reports: readonly Report[]): string[] {
  const lines = reports.flatMap(describedOne)
  const count = (due: Verdict) => reports.filter(({ verdict }) => verdict === due).length
  if (reports.length > 1)
    lines.push(
      `${reports.length} pieces of evidence: ${count('valid')} valid, ${count('invalid')} INVALID, ${count('unchecked')} cannot be checked`,
      '',
    )
  if (reports.some(({ checks }) => checks.some(({ missingKeys }) => missingKeys !== undefined)))
    lines.push(
      'A key that is not given is at GET /keys/{keyId} of the service: save it, and give it with --jwks.',
      '',
    )
  if (reports.some(({ checks }) => checks.some(({ missingLog }) => missingLog !== undefined)))
    lines.push(
      'The keys of a log are at GET /.well-known/countersign-log of the service: save the answer, and give it with --log.',
      '',
    )
  const limits = new Set(reports.flatMap(({ notProven }) => notProven))
  return [...lines, 'A pass does not prove:', ...Array.from(limits, (limit) => `  - ${limit}`)]
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  valid: 'valid',
  invalid: 'INVALID',
  unchecked: 'cannot be checked',
}

function describedOne({ artifact, subject, verdict, checks, keys, notes }: Report): string[] {
  return [
    `${artifact} ${subject}`,
    ...checks.map((check) => {
      const { name, problem } = check
      if (problem === undefined) return `  ok      ${name}`
      return `  ${isOpen(check) ? 'NO KEY' : 'FAILED'}  ${name}: ${problem}`
    }),
    ...notes.map((note) => `  note    ${note}`),
    ...keys.map(({ keyId, fingerprint }) => `  key     ${keyId} SHA-256 ${fingerprint}`),
    VERDICTS[verdict],
    '',
  ]
}
