// The processes that belong to a folder, as Linux knows them.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Every live process that works in the folder or below, or has it among its arguments or in its environment. */
export function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(
      (pid) =>
        pid > 0 &&
        (placeOf(pid).startsWith(folder) ||
          argumentsOf(pid).includes(folder) ||
          environmentOf(pid).includes(folder)),
    )
}

export function argumentsOf(pid: number): string {
  return readProcess(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
}

export function environmentOf(pid: number): string {
  return readProcess(() => readFileSync(`/proc/${pid}/environ`, 'utf8'))
}

function placeOf(pid: number): string {
  return readProcess(() => readlinkSync(`/proc/${pid}/cwd`))
}

/** Processes come and go while they are looked at, and another user's may not be looked into. */
function readProcess(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // it was faster
  }
}
