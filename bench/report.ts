// What a run has to say: the same figures as a table for people and as JSON.
import type { Machine } from './machine.ts'

export interface Report {
  readonly scenario: string
  readonly startedAt: string
  readonly machine: Machine
  readonly service: { readonly listener: string; readonly threads: number }
  readonly constants: Readonly<Record<string, number | string>>
  readonly floor: Floor
  readonly measurements: readonly Measurement[]
  readonly checked: { readonly executions: number; readonly verifiedOffline: number }
}

/** CPU microseconds per execution. Undefined where the system does not tell. */
export interface Floor {
  readonly batch: number
  readonly processMicros: number
  readonly postgresMicros: number | undefined
}

/** Everything but `latency` and `disturbance` is from the run at open throttle. */
export interface Measurement {
  readonly connections: number
  readonly executionsPerSecond: number
  /** Milliseconds, at a fixed rate. */
  readonly latency: {
    readonly ratePerSecond: number
    readonly p50: number
    readonly p99: number
    readonly max: number
  }
  /** CPU microseconds per execution. Undefined where the system does not tell. */
  readonly cpu:
    | {
        readonly door: number
        readonly workers: number
        readonly helpers: number
        readonly postgres: number
        /** Sum of these, and the same as a multiple of the floor's. */
        readonly total: number
        readonly timesFloor: number
      }
    | undefined
  readonly generatorMicros: number
  readonly batches: Batches
  /** Of all cores, in the worse of the two runs: what the host took away, and what other programs used. */
  readonly disturbance: { readonly stealPercent: number; readonly othersPercent: number } | undefined
}

export interface Batches {
  /** Executions per batch. */
  readonly mean: number
  /** The batch that half of all executions travelled in, or a smaller one. */
  readonly p50: number
  readonly max: number
}

export function printed(report: Report): string {
  const { scenario, startedAt, machine, service, constants, floor, measurements, checked } = report
  const about = {
    machine: `${machine.cpu}, ${machine.cores} cores, ${machine.system}, fsync of 8 KiB p50 ${figure(machine.fsyncMs.p50, 2)} ms p99 ${figure(machine.fsyncMs.p99, 2)} ms`,
    versions: `commit ${machine.commit}, Node ${machine.node}`,
    service: `listener ${service.listener}, worker threads ${service.threads}`,
    constants: Object.entries(constants)
      .map((constant) => constant.join(' '))
      .join(', '),
    checked:
      `${checked.executions} answered 200 = trust records = receipts = intents FINALIZED, none in doubt; ` +
      `${checked.verifiedOffline} records and receipts verified offline`,
  }
  return `countersign bench: ${scenario}, ${startedAt}

${Object.entries(about)
  .map(([name, text]) => `${name.padEnd(11)}${text}`)
  .join('\n')}

Open throttle; latency at a fixed rate of half as many, from when a request was due
${speedTable(measurements)}

CPU microseconds per execution at open throttle; helpers are threads of V8 and libuv in the service
${cpuTable(measurements, floor)}
`
}

function speedTable(measurements: readonly Measurement[]): string {
  return table([
    [
      'connections',
      'exec/s',
      'batch mean',
      'p50',
      'max',
      '|',
      'exec/s',
      'p50 ms',
      'p99 ms',
      'max ms',
      '|',
      'steal %',
      'others %',
    ],
    ...measurements.map(({ connections, executionsPerSecond, batches, latency, disturbance }) => [
      String(connections),
      figure(executionsPerSecond),
      figure(batches.mean, 1),
      figure(batches.p50),
      figure(batches.max),
      '|',
      figure(latency.ratePerSecond),
      figure(latency.p50, 1),
      figure(latency.p99, 1),
      figure(latency.max, 1),
      '|',
      figure(disturbance?.stealPercent, 1),
      figure(disturbance?.othersPercent, 1),
    ]),
  ])
}

function cpuTable(measurements: readonly Measurement[], floor: Floor): string {
  const { batch, processMicros, postgresMicros } = floor
  return table([
    ['connections', 'door', 'workers', 'helpers', 'postgres', 'total', '× floor', '|', 'generator'],
    ...measurements.map(({ connections, cpu, generatorMicros }) => [
      String(connections),
      figure(cpu?.door),
      figure(cpu?.workers),
      figure(cpu?.helpers),
      figure(cpu?.postgres),
      figure(cpu?.total),
      figure(cpu?.timesFloor, 2),
      '|',
      figure(generatorMicros),
    ]),
    // Its process does what is the workers' part.
    [
      `floor, by ${batch}`,
      '',
      figure(processMicros),
      '',
      figure(postgresMicros),
      figure(postgresMicros && processMicros + postgresMicros),
      figure(1, 2),
      '|',
      '',
    ],
  ])
}

function figure(value: number | undefined, decimals = 0): string {
  return value === undefined ? 'n/a' : value.toFixed(decimals)
}

/** Right-aligned, as figures are read. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_title, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => row.map((cell, column) => cell.padStart(widths?.[column] ?? 0)).join('  '))
    .join('\n')
}
