// Request headers that say how long to wait (RFC 7240), and which content type the client accepts (RFC 9110 §12.5).
import type { RouteRequest } from '../route.ts'

type Asked = Pick<RouteRequest, 'header'>

const WAIT_SECONDS_MAX = 10

/** `Prefer: wait=<seconds>`, in milliseconds; 0 where the request does not ask to wait. */
export function waitMsOf({ header }: Asked, secondsMax = WAIT_SECONDS_MAX): number {
  const [, seconds = '0'] =
    /(?:^|,)[ \t]*wait[ \t]*=[ \t]*"?([0-9]{1,9})"?[ \t]*(?:[,;]|$)/i.exec(header('prefer') ?? '') ?? []
  return Math.min(Number(seconds), secondsMax) * 1000
}

/** Whether `Accept` names the content type, in lower case and without parameters. Weights are not compared. */
export function acceptsType({ header }: Asked, type: string): boolean {
  const ranges = (header('accept') ?? '').toLowerCase().split(',')
  return ranges.some((range) => range.split(';')[0]?.trim() === type)
}
