// Which server listens, and why: in processes of their own, since a binary is loaded once.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const LISTEN = join(import.meta.dirname, '..', '..', 'src', 'server', 'http', 'listen', 'index.ts')

const CHOOSE = `
  const { listen } = await import(${JSON.stringify(LISTEN)})
  const given = { host: '127.0.0.1', port: 0, onRequest: async () => undefined }
  try {
    const listener = await listen({ ...given, ...JSON.parse(process.argv[1]) })
    await listener.stopAccepting()
    await listener.close()
    console.log(JSON.stringify({ server: listener.server, because: listener.because }))
  } catch (error) {
    console.log(JSON.stringify({ refused: error.message }))
  }
  process.exit()`

/** @param resolve how the package is found; undefined: as it is installed here */
function chosen(asked: { server?: string }, resolve?: string): unknown {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve: (name, context, next) => name === 'uWebSockets.js' ? (${resolve}) : next(name, context) })`
  const hooks = resolve === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
  const args = [...hooks, '--input-type=module', '--eval', CHOOSE, JSON.stringify(asked)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

const NOT_THERE = "(() => { throw Object.assign(new Error('x'), { code: 'ERR_MODULE_NOT_FOUND' }) })()"
const OTHER_GLIBC = `({ url: "data:text/javascript,throw%20new%20Error(%22GLIBC_9.9%5Cn%5Cnnot%20found%22)", shortCircuit: true })`

test('what is installed here listens, or it is said why not', () => {
  expect([
    { server: 'uWebSockets.js' },
    {
      server: 'node:http',
      because: expect.stringMatching(/^uWebSockets\.js does not load on this machine: .*GLIBC/) as unknown,
    },
  ]).toContainEqual(chosen({}))
})

test.each([
  ['is not installed', NOT_THERE, 'uWebSockets.js is not installed'],
  ['does not load', OTHER_GLIBC, 'uWebSockets.js does not load on this machine: GLIBC_9.9 not found'],
])('where uWebSockets.js %s, node:http listens and says so', (_what, resolve, because) => {
  expect(chosen({}, resolve)).toEqual({ server: 'node:http', because })
  expect(chosen({ server: 'node:http' }, resolve)).toEqual({ server: 'node:http' })
  expect(chosen({ server: 'uWebSockets.js' }, resolve)).toEqual({ refused: because })
})
