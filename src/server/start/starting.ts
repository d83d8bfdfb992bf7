// The arguments of every step of the start.
import type { Config } from '../../core/config/config.ts'
import type { Log } from '../log.ts'

/** The steps that undo a start, in the order of the start. */
export type Stops = (() => void | Promise<void>)[]

/** A step adds to `stops` the function that undoes it. */
export interface Starting {
  readonly config: Config
  readonly logger: Log['logger']
  readonly stops: Stops
  readonly signal: AbortSignal
}

export function logFailure(logger: Log['logger'], what: string): (error: unknown) => void {
  return (error) => logger.error({ err: error }, what)
}

/** @returns the opened resource; it is closed at the stop */
export function closedAtStop<Opened extends { close: () => void | Promise<void> }>(
  { stops }: Starting,
  opened: Opened,
): Opened {
  stops.push(() => opened.close())
  return opened
}
