// Loaded before the service (`node --import`), by the demo alone: a clock that runs beside the real one, so that a month can have happened.
// No variable and no option of the service turns it on, and its package does not contain this file.
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

const NAME = 'countersign-demo-clock'

/** Milliseconds that every thread adds to the real time; it is shared. */
const ahead = isMainThread
  ? new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT))
  : (getEnvironmentData(NAME) as Float64Array)

if (isMainThread) {
  ahead[0] = Number(new URL(import.meta.url).searchParams.get('ahead') ?? 0)
  setEnvironmentData(NAME, ahead)
  process.on('message', (message: { readonly aheadMs: number }) => {
    ahead[0] = message.aheadMs
    process.send?.(message)
  })
  process.channel?.unref()
}

const realNow = Date.now
const now = () => realNow() + (ahead[0] ?? 0)
Date.now = now
// A proxy and no subclass: what is a Date stays one, also where it was made before.
globalThis.Date = new Proxy(Date, {
  construct: (real, given: [], newTarget) =>
    Reflect.construct(real, given.length === 0 ? [now()] : given, newTarget) as object,
})
