// The script of the offline verifier page (decisions §5): what was dropped, chosen or pasted goes to `verifyFile`, and its
// answer to the screen. It opens no connection, keeps nothing, and starts without any key.
import { showResults, type Outcome } from './result.ts'
import { printable } from '../../src/formats/text/printable.ts'
import { noEvidence, readTrusted, Unusable, type Trusted } from '../../src/formats/verifier/index.ts'
import { reportsIn } from '../../src/formats/verifier/many.ts'
import { gather, type Gathering } from '../../src/formats/verifier/overview.ts'
import { openSummary, type Summing } from '../../src/formats/verifier/summary.ts'

/** A zone was given these; `text` is undefined for bytes that are no UTF-8 text. */
interface Source {
  readonly name: string
  readonly text: string | undefined
}

let evidence: readonly Source[] = []
let keySets: readonly Source[] = []
/** Only bundles need one: without it everything else is verified as it is with it. */
let logs: readonly Source[] = []
/** Counts what was given, so that an answer to what has been replaced since is not shown. */
let given = 0
/** Long exports must not freeze the page. */
const PAINT_EVERY_MS = 100

zone('evidence', (sources) => {
  evidence = sources
  return `${sources.length === 1 ? 'Evidence' : `${sources.length} evidence files`}: ${names(sources)}`
})
zone('key-set', (sources) => {
  keySets = sources
  return `${sources.length === 1 ? 'Key set' : `${sources.length} key files`}: ${names(sources)}`
})

zone('log', (sources) => {
  logs = sources
  return `Log description: ${names(sources)}`
})

// A file that misses its zone would replace the page by itself.
for (const type of ['dragover', 'drop'] as const)
  document.addEventListener(type, (event) => event.preventDefault())

// A saved copy has no service behind it.
if (location.protocol === 'file:')
  for (const served of document.querySelectorAll('[data-served]')) served.remove()

/** `take` keeps the sources and returns a sentence about what was taken. */
function zone(id: string, take: (sources: readonly Source[]) => string): void {
  const area = byId(id, HTMLElement)
  const file = byId(`${id}-file`, HTMLInputElement)
  const pasted = byId(`${id}-text`, HTMLTextAreaElement)
  const state = byId(`${id}-state`, HTMLElement)

  let turn = 0
  const give = async (reading: Promise<readonly Source[]>): Promise<void> => {
    const mine = ++turn
    // Its old content is gone at once: no result may stand beside the name of another file.
    take([])
    state.textContent = 'Reading…'
    await verify()
    const sources = await reading
    if (mine !== turn) return
    state.textContent = take(sources)
    await verify()
  }
  const giveFiles = async (files: Iterable<File> | null): Promise<void> => {
    const list = Array.from(files ?? [])
    if (list.length > 0) await give(Promise.all(list.map(read)))
  }

  file.addEventListener('change', () => void giveFiles(file.files))
  // Choosing the same file again, changed meanwhile, is then a change too.
  file.addEventListener('click', () => (file.value = ''))
  byId(`${id}-paste`, HTMLButtonElement).addEventListener('click', () => {
    file.value = ''
    void give(Promise.resolve([{ name: 'pasted text', text: pasted.value }]))
  })
  area.addEventListener('dragover', () => area.classList.add('over'))
  area.addEventListener('dragleave', () => area.classList.remove('over'))
  area.addEventListener('drop', (event) => {
    area.classList.remove('over')
    const files = event.dataTransfer?.files
    if (files === undefined || files.length === 0) return
    file.files = files
    void giveFiles(files)
  })
}

/** Exactly the bytes: a decoder that repairs them would verify something else than what the file holds. */
async function read(file: File): Promise<Source> {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { name: file.name, text: decoder.decode(await file.arrayBuffer()) }
  } catch {
    return { name: file.name, text: undefined }
  }
}

async function verify(): Promise<void> {
  const mine = ++given
  const summary = byId('summary', HTMLElement)
  const results = byId('results', HTMLElement)
  results.replaceChildren()
  const missing = [
    ...(evidence.length === 0 ? ['evidence'] : []),
    ...(keySets.length === 0 ? ['a key set'] : []),
  ]
  if (missing.length > 0) {
    summary.textContent = `Waiting for ${missing.join(' and ')}.`
    return
  }
  summary.textContent = 'Checking…'
  const outcomes: Outcome[] = []
  const summing = openSummary()
  const gathering = gather()
  const trusted = trustedNow()
  let paintedMs = -Infinity
  for (const source of evidence) {
    for (const outcome of outcomesOf(source, trusted, { summing, gathering })) {
      outcomes.push(outcome)
      if (performance.now() - paintedMs < PAINT_EVERY_MS) continue
      await painted()
      if (mine !== given) return
      paintedMs = performance.now()
    }
  }
  summary.textContent = showResults(results, outcomes, {
    summary: summing.summary(),
    overview: gathering.overview(),
  })
}

/** Reads what verifies, or the sentence that says why it cannot be read. */
function trustedNow(): Trusted | string {
  try {
    const unread = keySets.find((one) => one.text === undefined)
    if (unread !== undefined)
      throw new Unusable(`The key set ${unread.name} is not UTF-8 text. If it is UTF-16, save it as UTF-8.`)
    const [log, another] = logs
    if (another !== undefined) throw new Unusable('Several log descriptions are given: choose one of them.')
    if (log !== undefined && log.text === undefined)
      throw new Unusable(
        `The log description ${log.name} is not UTF-8 text. If it is UTF-16, save it as UTF-8.`,
      )
    return readTrusted(
      keySets.map((one) => one.text),
      { log: log?.text },
    )
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whatever goes wrong is not a pass. */
function* outcomesOf(
  { name, text }: Source,
  trusted: Trusted | string,
  { summing, gathering }: { readonly summing: Summing; readonly gathering: Gathering },
): Generator<Outcome> {
  const unread =
    text === undefined ? 'The evidence is not UTF-8 text. If it is UTF-16, save it as UTF-8.' : undefined
  if (typeof trusted === 'string' || text === undefined) {
    const reason = typeof trusted === 'string' ? trusted : (unread ?? '')
    const report = noEvidence(reason)
    summing.add(report)
    summing.addFile(name, false)
    gathering.add({ file: name, line: undefined, report, account: undefined })
    yield { name, reason }
    return
  }
  for (const { report, account, line } of reportsIn({ name, text }, trusted, summing)) {
    gathering.add({ file: name, line, report, account })
    yield report.artifact === 'unknown' ? { name, reason: report.notes.join(' ') } : { name, report }
  }
}

/** Lets the browser show what was written before a long check: post-quantum signatures take milliseconds each. */
function painted(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}

function names(sources: readonly Source[]): string {
  return sources.map(({ name }) => printable(name)).join(', ')
}

function byId<T extends HTMLElement>(id: string, type: abstract new () => T): T {
  const element = document.getElementById(id)
  if (!(element instanceof type)) throw new TypeError(`the page has no ${id}`)
  return element
}
