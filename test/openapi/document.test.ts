// The OpenAPI document: lint-clean, whole, as committed, and never less than it was (interface §9.4).
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { missingFrom } from '../../tools/openapi/compare.ts'
import { openapiDocument, openapiTexts } from '../../src/server/openapi/document.ts'
import { routes } from '../../src/server/routes/index.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SNAPSHOT = join(ROOT, 'docs', 'openapi.yaml')
/** Not every machine has it; the `yaml` package reads YAML 1.1 everywhere. */
const hasPyYaml = spawnSync('python3', ['-c', 'import yaml']).status === 0
const READ_YAML =
  'import json, sys, yaml; json.dump(yaml.load(sys.stdin, getattr(yaml, "CSafeLoader", yaml.SafeLoader)), sys.stdout)'
const document = openapiDocument(routes)

describe('the document', () => {
  // proves §4.1 GET /openapi.yaml · none
  test('has every route of the table and nothing else', () => {
    const listed = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.toSorted()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  test('is the committed docs/openapi.yaml; `npm run openapi` writes it', () => {
    expect(readFileSync(SNAPSHOT, 'utf8')).toBe(openapiTexts(routes).yaml)
  })

  // Generators that write code in the order of the document (orval 7) make a client that does not load otherwise.
  test('has each schema after those that it refers to, in both notations', () => {
    const { json, yaml } = openapiTexts(routes)
    for (const read of [JSON.parse(json), parse(yaml)] as { components: { schemas: object } }[]) {
      const names = Object.keys(read.components.schemas)
      const early = Object.entries(read.components.schemas).flatMap(([name, schema], at) =>
        [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].flatMap(
          ([, referred = '']) =>
            names.indexOf(referred) < at && names.includes(referred) ? [] : [`${name} before ${referred}`],
        ),
      )
      expect(early).toEqual([])
      expect(names.length).toBeGreaterThan(80)
    }
  })

  test.each([['1.2'], ['1.1']] as const)('says the same in both notations to a YAML %s reader', (version) => {
    const { json, yaml } = openapiTexts(routes)
    expect(parse(yaml, { version })).toEqual(JSON.parse(json))
  })

  test.skipIf(!hasPyYaml)('says the same in both notations to PyYAML', () => {
    const { json, yaml } = openapiTexts(routes)
    // Its value for a timestamp that is not quoted, a datetime, has no JSON and ends the program.
    const read = execFileSync('python3', ['-c', READ_YAML], { input: yaml, encoding: 'utf8' })
    expect(JSON.parse(read)).toEqual(JSON.parse(json))
  })

  // proves §4.1 GET /openapi.yaml · none
  test('is lint-clean: no error and no warning', async () => {
    const redocly = join(ROOT, 'node_modules', '.bin', 'redocly')
    const { stdout } = await promisify(execFile)(redocly, ['lint', SNAPSHOT, '--format=json'], {
      cwd: ROOT,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    })
    const { totals, problems } = JSON.parse(stdout) as { totals: object; problems: unknown[] }
    expect(problems).toEqual([])
    expect(totals).toMatchObject({ errors: 0, warnings: 0, ignored: 0 })
  })
})

/** A copy without what stands at a path. */
function without(...path: string[]): unknown {
  // Not structuredClone: what the document holds twice would be one object in its copy, too.
  const copy = JSON.parse(JSON.stringify(document)) as Record<string, unknown>
  const last = path.at(-1) ?? ''
  const holder = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, copy)
  expect(holder).toHaveProperty([last])
  if (Array.isArray(holder)) holder.splice(Number(last), 1)
  else delete holder[last]
  return copy
}

describe('within v1 nothing disappears: the comparison names', () => {
  test.each([
    ['a path', ['paths', '/health'], 'path /health'],
    ['a method', ['paths', '/transactions', 'post'], 'method POST /transactions'],
    ['a status', ['paths', '/execute', 'post', 'responses', '409'], 'POST /execute status 409'],
    [
      'a parameter',
      ['paths', '/transactions', 'get', 'parameters', '0'],
      'GET /transactions parameter query page',
    ],
    [
      'a parameter that several operations share',
      ['components', 'parameters', 'pageSize'],
      'GET /transactions parameter query pageSize',
    ],
    ['a property', ['components', 'schemas', 'Receipt', 'properties', 'keyId'], 'Receipt property keyId'],
    [
      'an enum value',
      ['components', 'schemas', 'Decision', 'properties', 'outcome', 'enum', '0'],
      'Decision.outcome value "APPROVED"',
    ],
    [
      'an error example',
      [
        'paths',
        '/approval-requests',
        'post',
        'responses',
        '409',
        'content',
        'application/json',
        'examples',
        'notApprovable',
      ],
      'POST /approval-requests 409 example notApprovable',
    ],
    ...['/execute', '/transactions'].map((path): [string, string[], string] => [
      `an error example that ${path} refers to`,
      [
        'components',
        'responses',
        'executionRejected-or-missingObject-or-noConnector-or-executionFailed-or-internal.executing',
        'content',
        'application/json',
        'examples',
        'noConnector',
      ],
      `POST ${path} 500 example noConnector`,
    ]),
    [
      'a response that operations refer to',
      ['components', 'responses', 'authenticationRequired'],
      'GET /transactions 401 application/json',
    ],
    [
      'a header',
      ['paths', '/execute', 'post', 'responses', '200', 'headers', 'RateLimit'],
      'POST /execute 200 header RateLimit',
    ],
    ['a schema', ['components', 'schemas', 'Receipt'], 'schema Receipt'],
  ])('%s', (_what, path, promise) => {
    expect(missingFrom(without(...path), document)).toContain(promise)
    expect(missingFrom(document, without(...path))).toEqual([])
  })

  test('nothing where nothing is gone', () => expect(missingFrom(document, document)).toEqual([]))
})
