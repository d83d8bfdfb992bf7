// After all other files: what the HTTP tests have seen and what the OpenAPI document lists are the same, both ways.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { failures } from '../../src/core/errors/errors.ts'
import { openapiDocument } from '../../src/server/openapi/document.ts'
import { shownFailures } from '../../src/server/openapi/failure-rows.ts'
import { failuresOf } from '../../src/server/openapi/responses.ts'
import { routes } from '../../src/server/routes/index.ts'

/** No request can ask for these, each with the reason. */
const NOT_TO_BE_PROVOKED: readonly { seen: RegExp; why: string }[] = [
  {
    seen: /^(?!(POST \/(webhooks\/\{provider\}|policies\/pending-changes\/\{id\}\/approve)|GET \/log\/proofs\/\{kind\}\/\{id\}) ).* 500 internal$/,
    why: 'a bug of ours or a dead thread; POST /execute and /transactions answer the same by contract as missingObject, a change that was tampered with gets it, so does a delivery that cannot be stored, and a proof from a damaged page',
  },
  {
    seen: /^GET \/(reference\/\{asset\}|audit|events|refusal|verifications|receipts|policies|approvers|approver-groups|stand-ins|external-connectors|event-endpoints|webhook-rules|caller-keys|approvals|approval-requests|execution-intents|webhook-events|confirmations|changes|executions|search|statistics).* 503 overloaded$/,
    why: 'for a reply of 64 KiB or more, which these are not yet',
  },
]

const files = readdirSync(inject('seenReplies'))
const httpFiles = readdirSync(join(import.meta.dirname, '..', 'http')).filter((file) =>
  file.endsWith('.test.ts'),
)
const left = inject('testsFiltered') ? ['tests by name'] : httpFiles.filter((file) => !files.includes(file))

const seen = new Set(
  files.flatMap((file) =>
    readFileSync(join(inject('seenReplies'), file), 'utf8')
      .trimEnd()
      .split('\n'),
  ),
)

const { paths } = openapiDocument(routes)

/** `METHOD path status [row]` of every answer and every error row in the document. */
const listed = routes.flatMap((route) => {
  const { method, path } = route
  const operation = (paths[path]?.[method.toLowerCase()] ?? {}) as {
    responses?: Record<string, unknown>
  }
  const rows = failuresOf(route)
  const rowLines = rows.map((row) => `${method} ${path} ${shownFailures[row].status} ${row}`)
  const failed = new Set(rows.map((row) => String(shownFailures[row].status)))
  const answers = Object.keys(operation.responses ?? {}).filter((status) => !failed.has(status))
  return [...rowLines, ...answers.map((status) => `${method} ${path} ${status}`)]
})

// A file whose replies are not seen, because it asks the service in a way of its own, would leave out all that follows.
test.skipIf(inject('filesNamed') || inject('testsFiltered'))('each file of HTTP tests has been seen', () => {
  expect(left).toEqual([])
})

describe.skipIf(left.length > 0)(
  `the document and the replies (left out of this run: ${left.join(', ') || 'nothing'})`,
  () => {
    // proves §4.2 POST /execute: Errors are in section
    test('whatever was seen is listed', () => {
      expect([...seen].filter((line) => !listed.includes(line))).toEqual([])
    })

    // proves §4.2 POST /execute: Errors are in section
    test('whatever is listed was seen, but for what no request can ask for', () => {
      const unseen = listed.filter((line) => !seen.has(line))
      expect(
        unseen.filter((line) => !NOT_TO_BE_PROVOKED.some((exception) => exception.seen.test(line))),
      ).toEqual([])
    })

    test('every row of the error table is of a route, but for those of the console and of another method', () => {
      const ofRoutes = new Set<string>(routes.flatMap(failuresOf))
      const others = Object.keys(failures).filter((row) => !ofRoutes.has(row))
      expect(others.toSorted()).toEqual(['consoleRefused', 'methodNotAllowed'])
    })

    test('what no request can ask for was indeed not seen', () => {
      for (const exception of NOT_TO_BE_PROVOKED)
        expect(
          [...seen].filter((line) => exception.seen.test(line)),
          exception.why,
        ).toEqual([])
    })
  },
)
