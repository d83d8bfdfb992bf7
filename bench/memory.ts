// Resident memory of a process, from Linux's /proc; elsewhere there is none.
import { readFileSync } from 'node:fs'

export function rssMiB(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}
