// The handbook (decisions §9): the chapters of docs/handbook as web pages.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Marked, type Parser, type Token, type Tokens } from 'marked'
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { escapeHtml } from '../../formats/text/text.ts'
import { pageAnswer } from '../openapi/answers.ts'
import { answerKept, type KeptDocument } from '../kept-document.ts'
import { assetHandler } from '../pages/assets.ts'
import { pageHeader } from '../pages/header.ts'
import { htmlDocument, readStyle } from '../pages/html.ts'
import { openGet, type Route } from '../route.ts'

const CHAPTERS_DIR = join(import.meta.dirname, '..', '..', '..', 'docs', 'handbook')

/** In reading order: `/handbook/<name>` is `<name>.md`, which begins with its title and a paragraph that sums it up. */
const chapterNames = [
  'callers',
  'executions',
  'evidence',
  'auditing',
  'log',
  'governing',
  'approving',
  'console',
  'finding',
  'policy-language',
  'policies',
  'receivers',
  'agents',
  'frameworks',
  'payment-providers',
  'webhook-rules',
  'events',
  'operating',
  'keeping',
  'scaling',
  'glossary',
]

const SECTIONS_MIN = 3

interface Chapter {
  readonly name: string
  readonly title: string
  /** HTML. */
  readonly summary: string
  readonly text: string
  /** The headings of its sections. */
  readonly sections: readonly string[]
  readonly tokens: readonly Token[]
}

export const handbook = [
  {
    ...openGet,
    path: '/handbook',
    operationId: 'getHandbook',
    tag: 'Pages',
    summary: "The operator's and caller's handbook",
    answers: { 200: pageAnswer('Its contents.') },
    failures: [],
    handle: (request) => answerKept(pages().index, request),
  },
  {
    ...openGet,
    path: '/handbook/{page}',
    operationId: 'getHandbookPage',
    tag: 'Pages',
    summary: 'A chapter of the handbook',
    params: { page: { schema: NonEmptyText, description: 'The name of the chapter.', example: 'callers' } },
    description:
      'Beside the chapters stand the scripts of their search, and the sections that it looks through.',
    answers: {
      200: {
        ...pageAnswer('The chapter.'),
        headers: [],
        optionalHeaders: ['Content-Security-Policy'],
        otherContentTypes: ['text/javascript', 'application/json'],
      },
    },
    failures: ['pathNotFound'],
    async handle(request, service) {
      const name = request.params['page'] ?? ''
      const page = name === SECTIONS ? pages().sections : pages().chapters.get(name)
      return page === undefined ? searchScript(request, service) : answerKept(page, request)
    },
  },
] as const satisfies readonly Route[]

/** The texts that the search looks through, as JSON. */
const SECTIONS = 'sections.json'

const searchScript = assetHandler(
  new Map([
    ['search.js', { from: './handbook-search.js', type: 'text/javascript' }],
    ['minisearch.js', { from: 'minisearch', type: 'text/javascript' }],
  ]),
  'page',
)

/** Hidden while its script does not run. */
const SEARCH = `<form role="search" class="find" hidden>
<label for="find" class="hidden">Search the handbook</label>
<input type="search" id="find" placeholder="Search the handbook" autocomplete="off" maxlength="100">
<p id="found-status" role="status"></p>
<ul id="found"></ul>
</form>`

interface Pages {
  readonly index: KeptDocument
  readonly sections: KeptDocument
  readonly chapters: ReadonlyMap<string, KeptDocument>
}

let rendered: Pages | undefined

/** Renders the pages on the first request and keeps them. */
function pages(): Pages {
  rendered ??= renderPages()
  return rendered
}

function renderPages(): Pages {
  const chapters = chapterNames.map(readChapter)
  const style = readStyle('handbook')
  const page = (title: string, current: string | undefined, main: string) =>
    htmlDocument({
      title: `${title}: Countersign handbook`,
      style,
      body: layout(chapters, current, main),
      modules: ['/handbook/search.js'],
    })
  return {
    sections: { body: JSON.stringify(chapters.flatMap(sectionsOf)), cache: 'no-cache' },
    index: page('Contents', undefined, contents(chapters)),
    chapters: new Map(
      chapters.map((chapter) => [chapter.name, page(chapter.title, chapter.name, chapterBody(chapter))]),
    ),
  }
}

function readChapter(name: string): Chapter {
  const marked = new Marked({
    walkTokens: linkPages,
    renderer: {
      heading: headingWithId,
      link: repositoryLink,
      code: codeToScroll,
      table: tableToScroll,
      image: imageWithin,
    },
  })
  const source = readFileSync(join(CHAPTERS_DIR, `${name}.md`), 'utf8')
  const tokens = marked.lexer(source)
  const [heading, summary] = tokens.filter(({ type }) => type !== 'space')
  if (heading?.type !== 'heading' || summary?.type !== 'paragraph')
    throw new Error(`${name}.md must begin with its title and a paragraph`)
  return {
    name,
    title: String(heading['text']),
    summary: marked.parse(summary.raw, { async: false }),
    text: marked.parse(source, { async: false }),
    tokens,
    sections: tokens.flatMap((token) =>
      token.type === 'heading' && token['depth'] === 2 ? [String(token['text'])] : [],
    ),
  }
}

interface Section {
  readonly path: string
  readonly chapter: string
  readonly title: string
  readonly text: string
}

/** A chapter's text before its first heading, and the text behind each of its headings. */
function sectionsOf({ name, title: chapter, tokens }: Chapter): Section[] {
  const sections: { path: string; title: string; text: string }[] = []
  for (const { type, raw, ...token } of tokens) {
    const { depth, text } = token as { depth?: number; text?: string }
    const last = sections.at(-1)
    if (type !== 'heading') {
      if (last !== undefined) last.text += raw
    } else if (depth === 1) sections.push({ path: `/handbook/${name}`, title: chapter, text: '' })
    else
      sections.push({
        path: `/handbook/${name}#${headingId(text ?? '')}`,
        title: (text ?? '').replaceAll('`', ''),
        text: '',
      })
  }
  return sections.map((section) => ({ ...section, chapter }))
}

/** @returns the chapter with a list of its sections below the title; without the list where there are too few sections */
function chapterBody({ text, sections }: Chapter): string {
  if (sections.length < SECTIONS_MIN) return text
  const links = sections.map(
    (section) => `<li><a href="#${headingId(section)}">${escapeHtml(section.replaceAll('`', ''))}</a></li>`,
  )
  const list = `<details class="sections"><summary>On this page</summary><ul>\n${links.join('\n')}\n</ul></details>`
  return text.replace('</h1>', () => `</h1>\n${list}`)
}

/** Chapters link each other as files, so that the links hold in the repository too. */
function linkPages(token: Token): void {
  if (token.type === 'link')
    token['href'] = String(token['href']).replace(/^([\w-]+)\.md(#.*)?$/, '/handbook/$1$2')
}

/** The service does not serve the repository's other files, so a link to one is replaced by its path. */
function repositoryLink(this: { parser: Parser }, { href, tokens }: Tokens.Link): string | false {
  const [, path] = /^\.\.\/\.\.\/(.*)$/.exec(href) ?? []
  if (path === undefined) return false
  return `${this.parser.parseInline(tokens)} (<code>${escapeHtml(path)}</code> in the repository)`
}

/** A picture is in the page itself: a saved chapter keeps it, and the pictures need no paths of their own. */
function imageWithin({ href, text }: Tokens.Image): string {
  const picture = readFileSync(join(CHAPTERS_DIR, href), 'base64')
  const type = href.endsWith('.svg') ? 'image/svg+xml' : 'image/png'
  return `<img src="data:${type};base64,${picture}" alt="${escapeHtml(text)}">`
}

function headingWithId(this: { parser: Parser }, { tokens, depth, text }: Tokens.Heading): string {
  const content = this.parser.parseInline(tokens)
  return depth === 1 ? `<h1>${content}</h1>\n` : `<h${depth} id="${headingId(text)}">${content}</h${depth}>\n`
}

/** A block that is wider than the screen scrolls, and the keyboard can only scroll an element that it reaches. */
function codeToScroll(this: { parser: Parser }, { text }: Tokens.Code): string {
  return `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`
}

/** The box around the table scrolls, not the table itself: screen readers ignore a table that is shown as a block. */
function tableToScroll(this: { parser: Parser }, table: Tokens.Table): string {
  const name = table.header.map(({ text }) => text.replaceAll('`', '')).join(', ')
  const row = (cells: readonly Tokens.TableCell[], tag: 'td' | 'th') =>
    `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>\n`
  return `<div class="scroll" tabindex="0" role="group" aria-label="Table: ${escapeHtml(name)}"><table>
<thead>${row(table.header, 'th')}</thead>
<tbody>${table.rows.map((cells) => row(cells, 'td')).join('')}</tbody>
</table></div>
`
}

/** @returns the id that GitHub gives the heading, so that a link works in both places */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}

function contents(chapters: readonly Chapter[]): string {
  const entries = chapters.map(
    ({ name, title, summary }) => `<h2><a href="/handbook/${name}">${escapeHtml(title)}</a></h2>\n${summary}`,
  )
  return `<h1>Handbook</h1>
<p>Countersign executes business transactions of automated systems under policy, and proves with signed receipts what was done
and under which authority. This handbook is for the people around it.</p>
${entries.join('\n')}`
}

function layout(chapters: readonly Chapter[], current: string | undefined, main: string): string {
  const links = chapters.map(({ name, title }) => {
    const here = name === current ? ' aria-current="page"' : ''
    return `<li><a href="/handbook/${name}"${here}>${escapeHtml(title)}</a></li>`
  })
  return `${pageHeader('/handbook', SEARCH)}
<div class="book">
<nav aria-label="Chapters"><details><summary>Chapters</summary><ol>
${links.join('\n')}
</ol></details></nav>
<main>
${main}
</main>
<footer><a href="/documentation">Try the API</a><a href="/reference">API reference</a><a href="/verifier">Verify offline</a><a href="/openapi.yaml">OpenAPI document</a></footer>
</div>`
}
