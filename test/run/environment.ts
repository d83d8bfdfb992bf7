// What every program that a test starts has in its environment, and nothing else of ours.
import { tmpdir } from 'node:os'

export const baseEnvironment = {
  PATH: process.env['PATH'] ?? '',
  /** The folder of this run. */
  TMPDIR: tmpdir(),
  /** A command is compiled by the first that starts it: a third of its CPU. */
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
}
