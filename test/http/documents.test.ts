// The documents that the service publishes about itself (interface §4.1, decisions §5, §9, §11): all open, none from elsewhere.
// How the pages behave in a browser: test/browser.
import { hash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { routes } from '../../src/server/routes/index.ts'
import { examplePath } from '../openapi/example-path.ts'
import { reply, type TestService } from '../service.ts'
import { withService } from '../with-service.ts'

const ROOT = join(import.meta.dirname, '..', '..')

let service: TestService

withService((made) => ({ service } = made), {
  env: { BUILD_VERSION: '2026.11.21+abc123' },
})

const open = { key: null }
const get = (path: string) => service.get(path, open)

/** A strict policy, with the hash of the page's own style element. */
function policyOf(html: string): string {
  const styles = Array.from(html.matchAll(/<style>([^]*?)<\/style>/g), ([, text = '']) => text)
  const hashes = styles.map((text) => hash('sha256', text, 'base64'))
  return (
    `default-src 'none'; script-src 'self'; style-src 'self' ${hashes.map((value) => `'sha256-${value}'`).join(' ')}; ` +
    `img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
  )
}

/** Expects what holds for every page: its headers, and that whatever it loads or links is ours and is there. */
async function expectStrictPage(path: string): Promise<string> {
  const { status, headers, text } = await get(path)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toBe(policyOf(text))
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('cache-control')).toBe('no-cache')
  // No inline script, no handler in an attribute, no address of another origin.
  expect(text).not.toMatch(
    /<script>|<script [^>]*>[^<]|<[^>]*\son\w+="|<[^>]*\s(?:src|href)="(?!\/[^/]|#|data:)/,
  )
  const named = new Set(Array.from(text.matchAll(/(?:src|href)="([/#][^"]*)"/g), ([, place = '']) => place))
  for (const place of named) {
    const [page = '', id] = place.split('#')
    const there = await get(page === '' ? path : page)
    // The first page names the routes to callers alone, so it is answered 401 without a key, as a page with these links.
    expect([place, there.status]).toEqual([place, place === '/' ? 401 : 200])
    if (id !== undefined) expect(there.text, place).toContain(` id="${id}"`)
  }
  return text
}

async function expectAsset(path: string, type: string): Promise<void> {
  const { status, headers, text } = await get(path)
  expect(status).toBe(200)
  expect(text.length).toBeGreaterThan(100)
  expect(headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('cache-control')).toBe('public, max-age=86400')
  const plain = await service.get(path, { ...open, headers: { 'Accept-Encoding': 'identity' } })
  expect(plain.headers.get('etag')).toBe(`"${hash('sha256', text, 'hex')}"`)
}

describe('GET /openapi.yaml 200', () => {
  // proves §4.1 GET /openapi.yaml · none; §5 GET /openapi.yaml
  test('answers the whole document, which caches may keep for an hour', async () => {
    const { status, headers, text } = await get('/openapi.yaml')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/yaml')
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(parse(text)).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } })
  })
})

describe('GET /openapi.json 200', () => {
  // proves §4.1 GET /openapi.json · none
  test('answers the same document', async () => {
    const { status, headers, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toEqual(parse((await get('/openapi.yaml')).text))
  })
})

describe('GET /api-manifest.json 200', () => {
  // proves §4.1 GET /api-manifest.json · none
  test('names the versions of GET /version, the documents, the authentication and the clients, and nothing else', async () => {
    const { version, api } = (await service.get('/version')).body as { version: string; api: string }
    expect(version).toBe('2026.11.21+abc123')
    expect(reply(await get('/api-manifest.json'))).toEqual({
      status: 200,
      body: {
        name: 'countersign',
        apiVersion: api,
        buildVersion: version,
        openapi: { yaml: '/openapi.yaml', json: '/openapi.json' },
        documentation: {
          interactive: '/documentation',
          reference: '/reference',
          handbook: '/handbook',
          verifier: '/verifier',
        },
        authentication: { type: 'bearer', header: 'Authorization' },
        clients: {
          typescript: { package: 'countersign-client', version: expect.any(String) },
          python: { package: 'countersign-client', version: expect.any(String) },
        },
      },
    })
  })

  // proves §4.1 GET /api-manifest.json · none
  test('names the client packages by the versions that they carry', async () => {
    const { clients } = (await get('/api-manifest.json')).body as { clients: Record<string, unknown> }
    const { name, version } = JSON.parse(read('clients', 'typescript', 'package.json')) as Record<
      string,
      string
    >
    expect(clients['typescript']).toEqual({ package: name, version })
    const [, project = ''] =
      /^\[project\]$([^]*?)(?=^\[|(?![^]))/m.exec(read('clients', 'python', 'pyproject.toml')) ?? []
    const member = (key: string) => new RegExp(`^${key} *= *"(.*)"$`, 'm').exec(project)?.[1]
    expect(clients['python']).toEqual({ package: member('name'), version: member('version') })
  })

  // proves §4.1 GET /api-manifest.json · none; §5 GET /api-manifest.json; §5 Whether GET /reference and GET
  test('every place that it names is there, without a key', async () => {
    const { openapi, documentation } = (await get('/api-manifest.json')).body as Record<
      string,
      Record<string, string>
    >
    const paths = [...Object.values(openapi ?? {}), ...Object.values(documentation ?? {})]
    expect(paths).toHaveLength(6)
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200])
  })
})

describe('GET /documentation 200', () => {
  // proves §4.1 GET /documentation · none; §5 GET /documentation
  test('is a page under a strict policy', async () => {
    expect(await expectStrictPage('/documentation')).toContain('src="/documentation/swagger-ui-bundle.js"')
  })
})

describe('GET /documentation/{asset} 200', () => {
  test.each([
    ['swagger-ui.css', 'text/css'],
    ['swagger-ui-bundle.js', 'text/javascript'],
    ['adapt.js', 'text/javascript'],
    ['documentation.js', 'text/javascript'],
  ])('answers %s', (name, type) => expectAsset(`/documentation/${name}`, type))
})

describe('GET /reference 200', () => {
  // proves §4.1 GET /reference · none
  test('is a page under a strict policy', async () => {
    expect(await expectStrictPage('/reference')).toContain('src="/reference/reference.js"')
  })
})

describe('GET /reference/{asset} 200', () => {
  test('answers reference.js', () => expectAsset('/reference/reference.js', 'text/javascript'))
})

const CHAPTERS = [
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

describe('GET /handbook 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('lists the chapters, and every one of them is there', async () => {
    const html = await expectStrictPage('/handbook')
    const chapters = Array.from(html.matchAll(/<h2><a href="([^"]+)">/g), ([, path]) => path)
    expect(chapters).toEqual(CHAPTERS.map((name) => `/handbook/${name}`))
  })
})

describe('GET /handbook/{page} 200', () => {
  test.each(CHAPTERS)('%s is its chapter, rendered, and marked as the current one', async (name) => {
    const html = await expectStrictPage(`/handbook/${name}`)
    const [title = ''] = read('docs', 'handbook', `${name}.md`).split('\n')
    expect(html).toContain(`<h1>${title.slice('# '.length)}</h1>`)
    expect(html).toContain(`<a href="/handbook/${name}" aria-current="page">`)
    expect(html).not.toMatch(/href="[^"]*\.md"/)
    // Every section is reached from the top of the page, and the first page of the service from every chapter.
    const [, list = ''] = /<details class="sections">([^]*?)<\/details>/.exec(html) ?? []
    const linked = Array.from(list.matchAll(/href="#([^"]+)"/g), ([, id]) => id)
    const ids = Array.from(html.matchAll(/<h2 id="([^"]+)"/g), ([, id]) => id)
    expect(linked).toEqual(ids.length < 3 ? [] : ids)
    expect(html).toMatch(/<a class="brand" href="\/">.*Countersign<\/a>/)
  })
})

/** Every route whose answer is the same for every client. */
const documents = routes.filter(({ answers }) => 'kept' in (answers[200] ?? {})).map(examplePath)

/** The reply as it came, which `fetch` does not show of one that is compressed. */
async function raw(path: string, headers: Record<string, string>, method = 'GET') {
  const request = http.request(service.url + path, { method, headers })
  request.end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

describe('in every coding', () => {
  test('the table has the documents, pages, files and key sets', () => {
    expect(documents.length).toBeGreaterThanOrEqual(14)
  })

  test.each(documents)('%s has bytes and an ETag of their own, and decodes to the same', async (path) => {
    const plain = await raw(path, {})
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const etags = new Set([plain.headers.etag])
    for (const [coding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { status, headers, body } = await raw(path, { 'Accept-Encoding': coding })
      expect([status, headers['content-encoding'], headers.vary]).toEqual([200, coding, 'Accept-Encoding'])
      expect(headers.etag).toBe(`"${hash('sha256', body, 'hex')}"`)
      expect(decode(body).equals(plain.body)).toBe(true)
      etags.add(headers.etag)
      const head = await raw(path, { 'Accept-Encoding': coding }, 'HEAD')
      expect(head.headers).toMatchObject({
        etag: headers.etag,
        'content-encoding': coding,
        'content-length': String(body.length),
      })
      const unchanged = await raw(path, { 'Accept-Encoding': coding, 'If-None-Match': headers.etag! })
      expect([unchanged.status, unchanged.body.length, unchanged.headers.vary]).toEqual([
        304,
        0,
        'Accept-Encoding',
      ])
    }
    expect(etags.size).toBe(3)
    // Another coding's tag is another's.
    const [, other] = etags
    expect((await raw(path, { 'If-None-Match': other! })).status).toBe(200)
  })
})

describe('304', () => {
  test.each(documents)('%s is not sent again to who has it', async (path) => {
    const etag = (await get(path)).headers.get('etag') ?? ''
    const again = await service.get(path, { ...open, headers: { 'If-None-Match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
    const other = await service.get(path, { ...open, headers: { 'If-None-Match': '"other"' } })
    expect(other.status).toBe(200)
  })
})

describe('404 pathNotFound', () => {
  test.each([
    '/documentation/',
    '/documentation/index.html',
    '/documentation/swagger-ui.js',
    '/documentation/..%2Fhtml.ts',
    '/documentation/reference.js',
    '/documentation/constructor',
    '/reference/..%2F..%2Fpackage.json',
    '/reference/documentation.js',
    '/handbook/approvals',
    '/handbook/callers.md',
    '/handbook/..%2Fdecisions',
    '/handbook/__proto__',
  ])('%s is nothing that is served', async (path) => {
    expect(reply(await get(path))).toEqual({ status: 404, body: { error: 'Not Found' } })
  })
})

describe('405 methodNotAllowed', () => {
  test.each(documents)('%s can only be read', async (path) => {
    const { status, headers, body } = await service.post(path, {}, open)
    expect([status, headers.get('allow'), body]).toEqual([405, 'GET, HEAD', { error: 'Method Not Allowed' }])
  })
})

function read(...path: string[]): string {
  return readFileSync(join(ROOT, ...path), 'utf8')
}
