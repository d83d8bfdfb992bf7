// The file of a gateway's open calls: what a process that was killed leaves, and how large it gets.
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openCallsIn, type OpenCall } from '../../src/mcp/open-calls.ts'
import { aTransaction } from '../transactions.ts'

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'open-calls.ndjson')
}

const aCall = (key: string): OpenCall => ({
  key,
  caller: 'somebody',
  transaction: aTransaction() as OpenCall['transaction'],
})

test('after many calls the file has those that are open alone, and goes on', () => {
  const path = aFile()
  const open = openCallsIn(path)
  const kept = aCall('kept')
  open.begin(kept)
  const ended = aCall('ended')
  for (let i = 0; i < 5_001; i++) {
    open.begin(ended)
    open.end(ended)
  }
  expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(10)
  const late = aCall('late')
  open.begin(late)
  open.close()
  const next = openCallsIn(path)
  expect([next.byKey('kept'), next.byId(late.transaction.businessTransactionId)]).toEqual([kept, late])
  expect(next.byKey('ended')).toBeUndefined()
  next.close()
})

test('half a last line counts as not written, and another line that cannot be read is named', () => {
  const path = aFile()
  const open = openCallsIn(path)
  const call = aCall('one')
  open.begin(call)
  open.close()
  const whole = readFileSync(path, 'utf8')
  appendFileSync(path, '{"ended":"')
  const next = openCallsIn(path)
  expect(next.byKey('one')).toEqual(call)
  next.end(call)
  next.close()
  expect(openCallsIn(path).byKey('one')).toBeUndefined()
  writeFileSync(path, `x\n${whole}`)
  expect(() => openCallsIn(path)).toThrow(`Line 1 of ${path} cannot be read.`)
})

test('on a full disk a call is refused, and nothing is written behind the part of a line', () => {
  const path = aFile()
  const program = `
    import { openCallsIn } from ${JSON.stringify(join(import.meta.dirname, '..', '..', 'src', 'mcp', 'open-calls.ts'))}
    const [path, ...calls] = JSON.parse(process.argv[1])
    const open = openCallsIn(path)
    open.begin(calls[0])
    for (const call of calls.slice(1)) try { open.begin(call); console.log('begun') } catch (error) { console.log(error.message) }
    open.end(calls[0])`
  const calls = [aCall('small'), { ...aCall('large'), caller: 'x'.repeat(8_000) }, aCall('next')]
  // Files of this process may have 4 KiB: a write beyond is one in part, as on a disk that is full.
  const { stdout, stderr } = spawnSync(
    'bash',
    [
      '-c',
      'trap "" XFSZ; ulimit -f 4; exec "$@"',
      '_',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
      JSON.stringify([path, ...calls]),
    ],
    { encoding: 'utf8' },
  )
  expect(stdout.trim().split('\n'), stderr).toEqual([
    `${path} was written in part: the disk is full.`,
    'begun',
  ])
  const next = openCallsIn(path)
  expect([next.byKey('large'), next.byKey('next')]).toEqual([undefined, calls[2]])
  expect(next.byKey('small')).toBeUndefined()
})
