// How tests run Python. Its bytecode goes beside what runs leave for the next ones, and nothing of a run into the tree: to compile the client's
// 45 modules takes each program a third of a second.
import { join } from 'node:path'
import { CACHE, ROOT } from './run/bundle.ts'

/** The Python client. */
export const PYTHON_CLIENT = join(ROOT, 'clients', 'python')

/** Variables of a program that finds its modules in these folders. */
export function pythonPath(...folders: readonly string[]): Record<string, string> {
  return { PYTHONPATH: folders.join(':'), PYTHONPYCACHEPREFIX: join(CACHE, 'python') }
}
