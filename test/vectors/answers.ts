// Each verifier says of key sets and files, in one shape: TypeScript in this process, Python in one of its own.
import { spawn, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { verifiers } from '../../src/formats/verifier/crypto.ts'
import { parseEvidence } from '../../src/formats/verifier/parse.ts'
import {
  Unusable,
  verifyFileBy,
  type LogTrust,
  type Report,
  type Trusted,
} from '../../src/formats/verifier/index.ts'
import { readKeySet, type KeySet } from '../../src/formats/verifier/keys.ts'
import { readLogTrust } from '../../src/formats/verifier/log-trust.ts'
import { noteCrypto } from '../../src/formats/verifier/note-crypto.ts'
import { exitCodeOf, openSummary } from '../../src/formats/verifier/summary.ts'
import { PYTHON_CLIENT, pythonPath } from '../python.ts'

/** Texts of key files, by which the texts after them are verified; or the text of a file, and that of a log description where there is one. */
export type Asked =
  { readonly files: readonly string[] } | { readonly text: string; readonly log?: string | null }

export type Outcome = 'holds' | 'fails' | readonly string[]

export interface Said {
  readonly artifact: string
  readonly subject: string
  readonly verdict: string
  /** Each by its name; in place of an outcome the ids of the keys that are not given, the origin of the log whose keys are not, or unknown members. */
  readonly checks: readonly (readonly [name: string, outcome: Outcome])[]
  readonly notes: readonly string[]
}

export type Answer =
  | { readonly keyIds: readonly string[] }
  | { readonly refused: true }
  | { readonly exitCode: 0 | 1 | 2; readonly reports: readonly Said[] }

export const pythonEnv = { ...process.env, ...pythonPath(PYTHON_CLIENT) }
export const noPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status !== 0

/** The same signature is asked for in many changed copies of one piece of evidence: a function of its arguments alone. */
function remembered(verify: Verify): Verify {
  const known = new Map<string, boolean>()
  return (signed) => {
    const key = hash('sha256', Buffer.concat([signed.publicKey, signed.signature, signed.message]), 'base64')
    const holds = known.get(key) ?? verify(signed)
    known.set(key, holds)
    return holds
  }
}
type Verify = (typeof verifiers)['ed25519']
Object.assign(verifiers, {
  ed25519: remembered(verifiers.ed25519),
  'ml-dsa-65': remembered(verifiers['ml-dsa-65']),
})
Object.assign(noteCrypto.verifies, {
  ed25519: verifiers.ed25519,
  'ml-dsa-44': remembered(noteCrypto.verifies['ml-dsa-44']),
})

/** An answer for each, in their order. */
export function typescriptAnswers(asked: readonly Asked[]): Answer[] {
  let keys: KeySet = new Map()
  return asked.map((one) => {
    try {
      if ('text' in one) return verified(one.text, { keys, log: logTrustOf(one.log ?? undefined) })
      keys = readKeySet(one.files.map((file) => parseEvidence(file, 'The key set')))
      return { keyIds: [...keys.keys()].toSorted() }
    } catch (error) {
      if (!(error instanceof Unusable)) throw error
      return 'text' in one ? { exitCode: 2, reports: [] } : { refused: true }
    }
  })
}

/** Most cases have the same. */
const logs = new Map<string, LogTrust>()

function logTrustOf(file: string | undefined): LogTrust | undefined {
  if (file === undefined) return undefined
  const trust = logs.get(file) ?? readLogTrust(file, noteCrypto.sha256)
  logs.set(file, trust)
  return trust
}

function verified(file: string, trusted: Trusted): Answer {
  const reports = verifyFileBy(file, trusted)
  const summing = openSummary()
  for (const report of reports) summing.add(report)
  return { exitCode: exitCodeOf(summing.summary()), reports: reports.map(said) }
}

function said({ artifact, subject, verdict, checks, notes }: Report): Said {
  return {
    artifact,
    subject,
    verdict,
    checks: checks.map(({ name, problem, missingKeys, missingLog, unknownMembers }) => [
      name,
      problem === undefined
        ? 'holds'
        : (missingKeys ?? unknownMembers ?? (missingLog === undefined ? 'fails' : [missingLog])),
    ]),
    notes,
  }
}

/** `examples/verifier`, which was written from the handbook, by Debian's Python, whose package `cryptography` is. It names no check that holds. */
export const HANDBOOK_VERIFIER = {
  python: '/usr/bin/python3',
  script: join(import.meta.dirname, '..', 'verifier', 'handbook_answers.py'),
  env: { ...process.env, ...pythonPath(join(import.meta.dirname, '..', '..', 'examples', 'verifier')) },
}
export const hasCryptography = spawnSync(HANDBOOK_VERIFIER.python, ['-c', 'import cryptography']).status === 0

const PYTHON_PACKAGE = { python: 'python3', script: join(import.meta.dirname, 'answers.py'), env: pythonEnv }

/**
 * As `typescriptAnswers`, by one process of a Python program: the package's, or another that answers alike. It reads and writes files, so that it
 * works on while this process is busy.
 * @throws where it writes to standard error
 */
export async function pythonAnswers(
  asked: readonly Asked[],
  { python, script, env } = PYTHON_PACKAGE,
): Promise<Answer[]> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  const [input, output] = [join(folder, 'asked'), join(folder, 'answers')]
  writeFileSync(input, asked.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const files = [openSync(input, 'r'), openSync(output, 'w')]
  try {
    const child = spawn(python, [script], { env, stdio: [...files, 'pipe'] })
    if (child.stderr === null) throw new Error('standard error is a pipe')
    const ended = once(child, 'close')
    const problems = await text(child.stderr)
    await ended
    if (problems !== '') throw new Error(problems)
    const lines = readFileSync(output, 'utf8').trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as Answer)
  } finally {
    for (const file of files) closeSync(file)
    rmSync(folder, { recursive: true })
  }
}
