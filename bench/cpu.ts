// CPU time and memory of the service's threads, of PostgreSQL and of the machine, from Linux's /proc (proc_pid_stat(5)); other systems
// have none.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { sum, type Round } from './figures.ts'

export const CPU_PARTS = ['front end', 'workers', 'helpers', 'postgres'] as const
export const CPU_COLUMNS = [...CPU_PARTS, 'CPU total'] as const

/**
 * Microseconds since each of them started. `helpers` are Node's own threads in the service's process: V8's garbage collection and
 * compiler, libuv's pool. `postgres` is the postmaster with its children, also those that have ended. `CPU total` is the
 * sum of the four.
 */
type CpuTimes = Readonly<Record<(typeof CPU_COLUMNS)[number], number>>

interface Pids {
  readonly service: number
  readonly postmaster: number
}

/** USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MICROS = 10_000

/** Names that Node 24 gives (15 characters, cut by the kernel). A thread with another name is a worker thread. */
const HELPERS = new Set(['V8Worker', 'libuv-worker', 'DelayedTaskSche', 'SignalInspector'])

const hasProc = process.platform === 'linux'
const processes = () => readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))

export function cpuTimes({ service, postmaster }: Pids): CpuTimes | undefined {
  if (!hasProc) return undefined
  const times = { 'front end': 0, workers: 0, helpers: 0, postgres: 0 }
  for (const tid of readdirSync(`/proc/${service}/task`)) {
    const stat = readStat(`/proc/${service}/task/${tid}`, { isOneThread: true })
    if (stat === undefined) continue
    const isMain = Number(tid) === service
    times[isMain ? 'front end' : HELPERS.has(stat.name) ? 'helpers' : 'workers'] += stat.micros
  }
  for (const pid of processes()) {
    // A process of PostgreSQL is one thread.
    const stat = readStat(`/proc/${pid}`, { isOneThread: true })
    if (stat?.parent === postmaster) times.postgres += stat.micros
    else if (Number(pid) === postmaster)
      times.postgres += (stat?.micros ?? 0) + (stat?.endedChildrenMicros ?? 0)
  }
  return { ...times, 'CPU total': sum(Object.values(times)) }
}

/** Microseconds of all processors together: taken away by the host, and used by programs that the bench has not started. */
interface Disturbance {
  readonly steal: number
  readonly others: number
}

/** @returns totals so far; only differences mean something */
export function disturbance(): Disturbance | undefined {
  if (!hasProc) return undefined
  // cpu  user nice system idle iowait irq softirq steal
  const line = readFileSync('/proc/stat', 'utf8').split(/ +/, 9)
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.map(Number)
  const busy = (user + nice + system + irq + softirq) * TICK_MICROS
  return { steal: steal * TICK_MICROS, others: busy - (treeMicros(process.pid) ?? 0) }
}

/** @returns the CPU time between two samples, divided by `by`: the columns of a table; empty where nothing is known */
export function cpuBetween(from: CpuTimes | undefined, to: CpuTimes | undefined, by: number): Round {
  if (from === undefined || to === undefined) return {}
  return Object.fromEntries(CPU_COLUMNS.map((part) => [part, (to[part] - from[part]) / by]))
}

/** @returns microseconds of a process and of all its descendants, ended ones included */
export function treeMicros(root: number): number | undefined {
  if (!hasProc) return undefined
  const stats = new Map(processes().map((pid) => [Number(pid), readStat(`/proc/${pid}`)]))
  const isOfTree = (pid: number): boolean => {
    const parent = stats.get(pid)?.parent
    return pid === root || (parent !== undefined && parent !== 0 && isOfTree(parent))
  }
  let micros = 0
  for (const [pid, stat] of stats)
    if (stat !== undefined && isOfTree(pid)) micros += stat.micros + stat.endedChildrenMicros
  return micros
}

/** @returns resident memory of a process, in bytes */
export function rssBytes(pid: number): number | undefined {
  if (!hasProc) return undefined
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
}

/**
 * @param folder of a process, or of a thread
 * @param isOneThread whether it has one thread: then its time is known to the nanosecond and not to the tick
 * @returns undefined where it has ended by now
 */
function readStat(folder: string, { isOneThread = false } = {}) {
  let stat: string
  let nanoseconds: number | undefined
  try {
    stat = readFileSync(`${folder}/stat`, 'utf8')
    const schedstat = `${folder}/schedstat`
    // Some kernels are built without it.
    if (isOneThread && existsSync(schedstat)) nanoseconds = Number.parseInt(readFileSync(schedstat, 'utf8'))
  } catch {
    return undefined
  }
  // The name stands in brackets and may hold any of the separators.
  const end = stat.lastIndexOf(')')
  const fields = stat.slice(end + 2).split(' ')
  const ticks = (first: number) => Number(fields[first - 3]) + Number(fields[first - 2])
  return {
    name: stat.slice(stat.indexOf('(') + 1, end),
    parent: Number(fields[1]),
    micros: nanoseconds === undefined ? ticks(14) * TICK_MICROS : nanoseconds / 1000,
    endedChildrenMicros: ticks(16) * TICK_MICROS,
  }
}
