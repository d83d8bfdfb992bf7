// The tools of a language model, behind the service: takes releases of `llm:call-tool` and runs the tool that is the release's target, once.
//   npx node examples/llm-tools/tools.ts --service http://127.0.0.1:3000 --port 8081 --folder mine/tools
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { evaluate } from '@marcbachmann/cel-js'
import {
  fetchServiceKeys,
  openJournal,
  receive,
  Refused,
  type Release,
} from '../../clients/typescript/src/receiver/index.ts'

const DOCUMENTS = join(import.meta.dirname, '..', '..', 'docs', 'handbook')
const HITS_MAX = 5
/** The answer of a tool becomes evidence. */
const CHARACTERS_MAX = 4_000

const { values } = parseArgs({
  options: {
    service: { type: 'string', default: 'http://127.0.0.1:3000' },
    port: { type: 'string', default: '8081' },
    folder: { type: 'string', default: 'mine/tools' },
  },
})
const outbox = join(values.folder, 'outbox')
mkdirSync(outbox, { recursive: true })

const documents = new Map(
  readdirSync(DOCUMENTS)
    .filter((file) => file.endsWith('.md'))
    .map((file) => [basename(file, '.md'), readFileSync(join(DOCUMENTS, file), 'utf8')]),
)

/** By the target of a release. The policy has a list of its own, and decides before anything comes here. */
const tools: Readonly<Record<string, (release: Release) => unknown>> = {
  search(release) {
    const query = text(release, 'query').toLowerCase()
    const hits = [...documents].flatMap(([document, content]) =>
      content.split('\n').flatMap((line, i) => {
        const found = line.toLowerCase().includes(query)
        return found ? [{ document, line: i + 1, text: line.slice(0, 200) }] : []
      }),
    )
    return { found: hits.length, hits: hits.slice(0, HITS_MAX) }
  },

  read_document(release) {
    const document = text(release, 'document')
    const content = documents.get(document)
    if (content === undefined) throw new Refused(`There is no document ${document}.`)
    return { document, text: content.slice(0, CHARACTERS_MAX), characters: content.length }
  },

  calculate(release) {
    const expression = text(release, 'expression')
    if (!/^[\d\s.+*/()-]{1,200}$/.test(expression))
      throw new Refused('An expression has numbers, + - * / and brackets only.')
    try {
      // CEL, as the policies have it, whose numbers with a point are doubles.
      const inDoubles = expression.replaceAll(/\d+(\.\d+)?/g, (number, point) =>
        point === undefined ? `${number}.0` : number,
      )
      const value: unknown = evaluate(inDoubles)
      if (!Number.isFinite(value)) throw new Error('It has no finite value.')
      return { expression, value }
    } catch (error) {
      throw new Refused(error instanceof Error ? error.message : String(error))
    }
  },

  create_ticket(release) {
    const ticket = { id: release.authorizationId, title: text(release, 'title'), text: text(release, 'text') }
    appendFileSync(join(values.folder, 'tickets.jsonl'), `${JSON.stringify(ticket)}\n`)
    return { ticket: ticket.id }
  },

  send_email(release) {
    const { authorizationId, approvedBy } = release
    const lines = [`To: ${oneLine(release, 'to')}`, `Subject: ${oneLine(release, 'subject')}`]
    const file = join(outbox, `${authorizationId}.eml`)
    writeFileSync(
      file,
      [...lines, `Approved-By: ${approvedBy.join(', ')}`, '', text(release, 'text')].join('\n'),
    )
    return { message: authorizationId }
  },
}

/** @throws Refused, so that nothing was done */
function text({ parameters }: Release, name: string): string {
  const value = parameters[name]
  if (typeof value !== 'string' || value === '') throw new Refused(`${name} is missing.`)
  return value
}

/** For a head of a mail, which a line break would add another to. */
function oneLine(release: Release, name: string): string {
  const value = text(release, name)
  if (/[\r\n]/.test(value)) throw new Refused(`${name} must be one line.`)
  return value
}

const receiver = receive({
  keys: await fetchServiceKeys(values.service),
  journal: openJournal(join(values.folder, 'tools.journal')),
  capabilities: ['llm:call-tool'],
  act(release) {
    const run = Object.hasOwn(tools, release.target) ? tools[release.target] : undefined
    if (run === undefined) throw new Refused(`There is no tool ${release.target}.`)
    const result = run(release)
    console.log(`${release.target}: ${JSON.stringify(result).slice(0, 160)}`)
    return result
  },
})
const { origin } = await receiver.listen(Number(values.port))
console.log(`listening on ${origin} for llm:call-tool`)
