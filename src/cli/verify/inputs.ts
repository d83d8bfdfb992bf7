// The files of `countersign verify`: paths, folders and standard input, read in pieces of bounded size.
import { createReadStream, readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Unusable } from '../../formats/verifier/index.ts'
import { parseEvidence } from '../../formats/verifier/parse.ts'
import { countLines, isLines, type LineCount } from '../../formats/verifier/lines.ts'

/** The files that are read in a folder; a file on the command line is read whatever its name. */
const EVIDENCE_FILE = /\.(?:json|ndjson|jsonl)$/i
/** Lines are sent to a thread together up to this size. */
const BATCH_CHARACTERS = 256 * 1024
/** A line, and a text that is no file of lines, is parsed whole. */
const TEXT_CHARACTERS_MAX = 256 * 1024 * 1024

export interface Batch {
  readonly file: string
  readonly texts: readonly string[]
  /** The line of each text, from 1; undefined: the one text is the whole file. */
  readonly lines?: readonly number[]
  /** On the last batch of a file: `cut short` is a file of lines that does not end as an export does. */
  readonly end?: 'whole' | 'cut short'
  /** Where the file cannot be read: a sentence that says why, in place of texts. */
  readonly problem?: string
}

/**
 * @param paths files, folders (every evidence file below them, by name) and `-`
 * @throws Unusable for a path that is not there, and a folder without evidence
 */
export async function findFiles(paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    if (path === '-' || !(await isFolder(path))) {
      found.push(path)
      continue
    }
    const inside = await filesBelow(path)
    if (inside.length === 0) throw new Unusable(`${path} holds no .json, .ndjson or .jsonl file.`)
    found.push(...inside.toSorted())
  }
  return found
}

/**
 * In a folder that somebody sent, a pipe or a device would be read for ever, and a link to a folder leads round in circles.
 * @throws Unusable rather than leave a file out: nobody would miss it
 */
async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      found.push(...(await filesBelow(path)))
    } else if (entry.isSymbolicLink() && (await isFolder(path))) {
      throw new Unusable(`${path} is a link to a folder: give the folder itself.`)
    } else if (EVIDENCE_FILE.test(entry.name)) {
      if (!(await stat(path)).isFile())
        throw new Unusable(`${path} is not a plain file, so it may never end.`)
      found.push(path)
    }
  }
  return found
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    throw unreadable(path, error)
  }
}

/** A file that cannot be read is one batch with its `problem`, and hides no other. */
export async function* readBatches(file: string): AsyncGenerator<Batch> {
  try {
    yield* batchesOf(file)
  } catch (error) {
    const { message } = error instanceof Unusable ? error : unreadable(file, error)
    yield { file, texts: [], end: 'whole', problem: message }
  }
}

async function* batchesOf(file: string): AsyncGenerator<Batch> {
  let rest = ''
  let count: LineCount | undefined
  let kind: 'lines' | 'text' | undefined
  let line = 0
  let characters = 0
  let texts: string[] = []
  let lines: number[] = []
  const take = (one: string) => {
    line++
    if (count?.take(one) !== true) return
    texts.push(one)
    lines.push(line)
    characters += one.length
  }
  for await (const text of textsOf(file)) {
    rest += text
    if (rest.length > TEXT_CHARACTERS_MAX)
      throw new Unusable(`${nameOf(file)} has more than ${TEXT_CHARACTERS_MAX} characters in one piece.`)
    kind ??= kindOf(file, rest)
    if (kind !== 'lines') continue
    count ??= countLines()
    const whole = rest.split('\n')
    rest = whole.pop() ?? ''
    for (const one of whole) {
      take(one)
      if (characters < BATCH_CHARACTERS) continue
      yield { file, texts, lines }
      ;[texts, lines, characters] = [[], [], 0]
    }
  }
  if (kind === undefined && isLines(file, rest.trim(), false)) count = countLines()
  if (count === undefined) {
    yield { file, texts: [rest], end: 'whole' }
    return
  }
  for (const one of rest.split('\n')) take(one)
  yield { file, texts, lines, end: count.isWhole() ? 'whole' : 'cut short' }
}

/** Undefined until a second line has begun. */
function kindOf(file: string, head: string): 'lines' | 'text' | undefined {
  const start = head.search(/\S/)
  const end = start === -1 ? -1 : head.indexOf('\n', start)
  if (end === -1 || !/\S/.test(head.slice(end))) return undefined
  return isLines(file, head.slice(start, end), true) ? 'lines' : 'text'
}

async function* textsOf(file: string): AsyncGenerator<string> {
  const source = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1024 * 1024 })
  const decoded = openDecoder(file)
  for await (const chunk of source as AsyncIterable<Buffer>) yield decoded(chunk)
  yield decoded()
}

/** The beginning of messages about a file. */
export function nameOf(path: string): string {
  return path === '-' ? 'Standard input' : path
}

/**
 * Reads a key set. Several files become one set later: only here is it known which file has the mistake.
 * @throws Unusable
 */
export function readKeySetText(path: string): string {
  const text = readText(path)
  parseEvidence(text, nameOf(path))
  return text
}

/**
 * Reads the description of a log.
 * @throws Unusable
 */
export function readText(path: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(path === '-' ? 0 : path)
  } catch (error) {
    throw unreadable(path, error)
  }
  const decoded = openDecoder(path)
  return decoded(bytes) + decoded()
}

/** Takes the bytes piece by piece, and nothing at their end. Keeps a BOM, for the parser to refuse. */
function openDecoder(path: string): (bytes?: Buffer) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let first: string | undefined
  return (bytes) => {
    first ??= bytes?.subarray(0, 2).toString('hex')
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      const isUtf16 = first === 'fffe' || first === 'feff'
      throw new Unusable(
        `${nameOf(path)} is not UTF-8 text${isUtf16 ? ': it is UTF-16. Save it as UTF-8' : ''}.`,
      )
    }
  }
}

function unreadable(path: string, error: unknown): Unusable {
  return new Unusable(`${nameOf(path)} cannot be read (${codeOf(error)}).`)
}

/** As the system names it, such as ENOENT. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
}
