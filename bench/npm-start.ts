// How `npm start` starts the service: whoever starts it otherwise gives Node the same.
import packageJson from '../package.json' with { type: 'json' }

/** `node`, its arguments, and the program. */
export const npmStart: readonly string[] = packageJson.scripts.start.replace('exec ', '').split(' ')

/** Node's arguments alone. */
export const npmStartArguments: readonly string[] = npmStart.slice(1, -1)
