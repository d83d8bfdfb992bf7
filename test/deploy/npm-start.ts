// The command of `npm start`. The image and the unit must run the same.
import packageJson from '../../package.json' with { type: 'json' }

/** `node`, its arguments, and the program. */
export const npmStart: readonly string[] = packageJson.scripts.start.replace('exec ', '').split(' ')
