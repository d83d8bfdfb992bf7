// Every program that a test starts has these in its environment, and nothing else of ours.
import { tmpdir } from 'node:os'
import { packagesArguments } from './packages.ts'
import { programsArguments } from './programs.ts'

export const baseEnvironment = {
  PATH: process.env['PATH'] ?? '',
  /** The folder of this run. */
  TMPDIR: tmpdir(),
  /** A command is compiled by the first that starts it: a third of its CPU. */
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
}

/**
 * The same for a program whose own start is not what is tested: it loads packages, and runs services, from a few files each. Node's
 * options for V8 must not be in its environment.
 */
export const bundledEnvironment = {
  ...baseEnvironment,
  NODE_OPTIONS: [...packagesArguments, ...programsArguments]
    .filter((argument) => argument.startsWith('--import='))
    .join(' '),
}
