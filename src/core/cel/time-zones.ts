// Times read in a time zone, as in `now.getHours("Europe/Berlin")`. The implementation's own functions read them by way of the host's time
// zone, which is wrong for an hour a year on a host that is not in UTC, and take 550 µs a call; these take 7, and next to nothing for a
// time in the minute that was read before.
import type { Environment } from '@marcbachmann/cel-js'
import { nearest } from '../../formats/text/nearest.ts'

/** Each as the implementation registers it, without and with a time zone; the numbers are CEL's: months and Sunday count from 0. */
const GETTERS = new Map<string, (wall: Date) => number>([
  ['getFullYear', (wall) => wall.getUTCFullYear()],
  ['getMonth', (wall) => wall.getUTCMonth()],
  ['getDate', (wall) => wall.getUTCDate()],
  ['getDayOfWeek', (wall) => wall.getUTCDay()],
  ['getHours', (wall) => wall.getUTCHours()],
  ['getMinutes', (wall) => wall.getUTCMinutes()],
])

export const TIME_GETTERS: readonly string[] = [...GETTERS.keys()]

/**
 * The name under which a getter is evaluated with a time zone. It is as long as the one that an author writes, so that places in an
 * expression stay what they are.
 */
export function zonedName(getter: string): string {
  return `G${getter.slice(1)}`
}

/** Registers the getters with a time zone, under their `zonedName`. */
export function registerTimeZones(environment: Environment): Environment {
  // By its name in lower case: a name has thousands of spellings, and there are some six hundred names.
  const zones = new Map<string, Zone>()
  for (const [getter, read] of GETTERS) {
    const signature = `google.protobuf.Timestamp.${zonedName(getter)}(string): int`
    environment.registerFunction(signature, (date: Date, name: string) => BigInt(read(wallClock(date, name))))
  }
  return environment

  /** Reads the time that a clock in the zone shows, as if it were UTC. */
  function wallClock(date: Date, name: string): Date {
    const key = name.toLowerCase()
    let zone = zones.get(key)
    if (zone === undefined) zones.set(key, (zone = openZone(name)))
    return new Date(date.getTime() + zone.offsetMs(date))
  }
}

/** A sentence where there is no such time zone; undefined where there is. */
export function timeZoneProblem(name: string): string | undefined {
  if (isTimeZone(name)) return undefined
  const known = Intl.supportedValuesOf('timeZone')
  const meant =
    nearest(name, known) ??
    known.find((zone) => zone.toLowerCase().endsWith(`/${name.toLowerCase().replaceAll(' ', '_')}`))
  return `'${name}' is no IANA time zone (${meant === undefined ? 'such as Europe/Berlin' : `did you mean '${meant}'?`}).`
}

/** An offset such as +01:00 is none: it has no summer time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Z]/.test(name)) return false
  try {
    return Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

interface Zone {
  readonly offsetMs: (date: Date) => number
}

const MINUTE_MS = 60_000

function openZone(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  let last = { minute: NaN, offsetMs: 0 }
  return {
    offsetMs(date) {
      const minute = Math.floor(date.getTime() / MINUTE_MS)
      if (minute !== last.minute) last = { minute, offsetMs: offsetIn(format, minute * MINUTE_MS) }
      return last.offsetMs
    },
  }
}

/** From `11/25/2026, GMT+01:00`; the offset of UTC itself is left out. */
function offsetIn(format: Intl.DateTimeFormat, timeMs: number): number {
  const [, sign, hours, minutes, seconds = 0] =
    /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(timeMs)) ?? []
  if (sign === undefined) return 0
  return (sign === '-' ? -1 : 1) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}
