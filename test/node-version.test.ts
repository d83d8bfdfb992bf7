// The machine's own Node is too old for the service, and says so. Skipped where that Node is a newer one, or none.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aFolder } from './embedded/drive.ts'
import { machinePath, oldNode } from './machine-node.ts'

const ROOT = join(import.meta.dirname, '..')
const SENTENCE = `countersign needs Node 24.6 or newer (this is ${oldNode}): npm ci installs one.\n`

/** A checkout as `npm ci --omit=dev` leaves it, where no package is the exact Node: nothing gets as far as importing another one. */
function checkout(): string {
  const folder = join(aFolder(), 'countersign')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  cpSync(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })
  symlinkSync(join(ROOT, 'src'), join(folder, 'src'))
  return folder
}

describe.skipIf(oldNode === undefined)("with the machine's own Node, older than 24.6,", () => {
  test.each([
    ['npm start', ['npm', 'start', '--silent'], 1],
    ['npm run migrate', ['npm', 'run', 'migrate', '--silent'], 2],
    ['node bin/start.js', ['node', 'bin/start.js'], 1],
    ['node bin/countersign.js', ['node', 'bin/countersign.js', 'keys', 'list'], 2],
    ['bin/countersign', ['bin/countersign', 'keys', 'list'], 2],
  ])('%s says in one sentence what it needs', (_, [command = '', ...args], status) => {
    const folder = checkout()
    const env = { PATH: machinePath, HOME: folder, npm_config_update_notifier: 'false' }
    const ended = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' })
    expect(ended).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(SENTENCE) as string })
    expect(ended.stderr).not.toMatch(/^\s+at /m)
  })

  test('bin/countersign runs on the Node that `npm ci` installed, from any folder', () => {
    const ended = spawnSync(join(ROOT, 'bin', 'countersign'), ['keys', 'generate', '--dir', 'keys'], {
      cwd: aFolder(),
      env: { PATH: machinePath },
      encoding: 'utf8',
    })
    expect(ended).toMatchObject({ status: 0, stderr: '' })
    expect(ended.stdout.match(/^Made /gm)).toHaveLength(4)
  })
})
