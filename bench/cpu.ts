// CPU time and memory of the service's threads and of PostgreSQL, from Linux's /proc (proc_pid_stat(5)); elsewhere there is none.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Microseconds since each of them started. */
export interface CpuTimes {
  /** The main thread. */
  readonly door: number
  readonly workers: number
  /** Node's own threads in the same process: V8's garbage collection and compiler, libuv's pool. */
  readonly helpers: number
  /** The postmaster, its children and those of them that have ended. */
  readonly postgres: number
  /** Of the four above. */
  readonly total: number
  /** All processors of the machine: at work for anybody, and taken away by its host. */
  readonly busy: number
  readonly steal: number
}

/** USER_HZ is 100 on every architecture that Node runs on. */
const TICK_MICROS = 10_000

/** As node 24 names them (15 characters, cut by the kernel); what has none of these names is a worker thread. */
const HELPERS = new Set(['V8Worker', 'libuv-worker', 'DelayedTaskSche', 'SignalInspector'])

export function cpuTimes({
  service,
  postmaster,
}: {
  service: number
  postmaster: number
}): CpuTimes | undefined {
  if (process.platform !== 'linux') return undefined
  const times = { door: 0, workers: 0, helpers: 0 }
  for (const tid of readdirSync(`/proc/${service}/task`)) {
    const stat = readStat(`/proc/${service}/task/${tid}`, { isOneThread: true })
    if (stat === undefined) continue
    const part = Number(tid) === service ? 'door' : HELPERS.has(stat.name) ? 'helpers' : 'workers'
    times[part] += stat.micros
  }
  let postgres = 0
  for (const entry of readdirSync('/proc')) {
    // A process of PostgreSQL is one thread.
    const stat = /^\d+$/.test(entry) ? readStat(`/proc/${entry}`, { isOneThread: true }) : undefined
    if (stat?.parent === postmaster) postgres += stat.micros
    if (Number(entry) === postmaster) postgres += (stat?.micros ?? 0) + (stat?.endedChildrenMicros ?? 0)
  }
  // user nice system idle iowait irq softirq steal
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = readFileSync(
    '/proc/stat',
    'utf8',
  )
    .slice('cpu '.length)
    .trimStart()
    .split(' ', 8)
    .map(Number)
  const busy = (user + nice + system + irq + softirq) * TICK_MICROS
  const total = times.door + times.workers + times.helpers + postgres
  return { ...times, postgres, total, busy, steal: steal * TICK_MICROS }
}

/** Microseconds of a process, of all that descend from it, and of those of them that have ended. */
export function treeMicros(root: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const stats = new Map(
    readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map((entry) => [Number(entry), readStat(`/proc/${entry}`)]),
  )
  const isOfTree = (pid: number): boolean => {
    const parent = stats.get(pid)?.parent
    return pid === root || (parent !== undefined && parent !== 0 && isOfTree(parent))
  }
  let micros = 0
  for (const [pid, stat] of stats)
    if (stat !== undefined && isOfTree(pid)) micros += stat.micros + stat.endedChildrenMicros
  return micros
}

/** What was used between two samples, divided by `by`. */
export function cpuBetween(
  from: CpuTimes | undefined,
  to: CpuTimes | undefined,
  by: number,
): CpuTimes | undefined {
  if (from === undefined || to === undefined) return undefined
  const used = (part: keyof CpuTimes) => (to[part] - from[part]) / by
  const [door, workers, helpers, postgres] = [
    used('door'),
    used('workers'),
    used('helpers'),
    used('postgres'),
  ]
  const total = door + workers + helpers + postgres
  return { door, workers, helpers, postgres, total, busy: used('busy'), steal: used('steal') }
}

/** Resident memory of a process. */
export function rssMiB(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
}

/**
 * @param folder of a process, or of a thread
 * @param isOneThread whether it has one thread: then its time is known to the nanosecond and not to the tick
 * @returns undefined where it has ended by now
 */
function readStat(folder: string, { isOneThread = false } = {}) {
  let text: string
  let nanoseconds: number | undefined
  try {
    text = readFileSync(`${folder}/stat`, 'utf8')
    const schedstat = `${folder}/schedstat`
    // Some kernels are built without it.
    if (isOneThread && existsSync(schedstat)) nanoseconds = Number.parseInt(readFileSync(schedstat, 'utf8'))
  } catch {
    return undefined
  }
  // The name stands in brackets and may hold any of the separators.
  const end = text.lastIndexOf(')')
  const fields = text.slice(end + 2).split(' ')
  const ticks = (first: number) => Number(fields[first - 3]) + Number(fields[first - 2])
  return {
    name: text.slice(text.indexOf('(') + 1, end),
    parent: Number(fields[1]),
    micros: nanoseconds === undefined ? ticks(14) * TICK_MICROS : nanoseconds / 1000,
    endedChildrenMicros: ticks(16) * TICK_MICROS,
  }
}
