// The machine's own Node and PATH, without the project's node_modules/.bin that `npm test` puts in front.
import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'

/** PATH as a terminal has it. */
export const machinePath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter)

const [, version = '', major = ''] =
  /^(v(\d+)\.\S+)/.exec(
    spawnSync('node', ['--version'], { env: { PATH: machinePath }, encoding: 'utf8' }).stdout ?? '',
  ) ?? []

/** Version of the machine's Node where it is one that cannot run the service, such as `v20.20.2`; else undefined. */
export const oldNode: string | undefined = version !== '' && Number(major) < 24 ? version : undefined
