// npm run openapi: writes docs/openapi.yaml, the committed snapshot, unless something in it would disappear (interface §9.4).
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'
import { routes } from '../../src/server/routes/index.ts'
import { missingFrom } from './compare.ts'
import { openapiTexts } from '../../src/server/openapi/document.ts'

const file = new URL('../../docs/openapi.yaml', import.meta.url)
const { yaml } = openapiTexts(routes)
const missing = missingFrom(parse(yaml), committed())
if (missing.length > 0) {
  process.stderr.write(
    `Within v1 nothing is taken away, and the new document lacks:\n${missing.join('\n')}\n`,
  )
  process.exitCode = 1
} else {
  writeFileSync(file, yaml)
}

/** Undefined before the first. */
function committed(): unknown {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
