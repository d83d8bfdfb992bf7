// The threads of `countersign verify`, and the thread's own side. Results come in the order of the tasks, and no more tasks are read than
// the threads are about to take: memory stays flat however long the export is.
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { runTask, trustedBy, type Done, type Task, type TrustTexts } from './task.ts'

/** More would wait for the disk, and each keeps tables of the keys. */
const THREADS_MAX = 16
/** Each thread has one task under way and one that waits. */
const TASKS_OF_A_THREAD = 2

/** The data that a worker thread starts with; anything else that runs this file is no such thread. */
interface ThreadData {
  readonly countersignVerify: TrustTexts
}

/** In a thread that `runOnThreads` started: serves its tasks. @returns whether this is one */
export function serveTasks(): boolean {
  const { countersignVerify: trust } = (workerData ?? {}) as Partial<ThreadData>
  if (isMainThread || parentPort === null || trust === undefined) return false
  const port = parentPort
  const trusted = trustedBy(trust)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port between threads, not between windows
  port.on('message', (task: Task) => port.postMessage(runTask(task, trusted)))
  return true
}

interface Thread {
  readonly worker: Worker
  readonly waiting: { readonly resolve: (done: Done[][]) => void; readonly reject: (error: Error) => void }[]
}

/**
 * Runs the tasks; a single one runs in this thread.
 *
 * @param file the program of a thread: it calls `serveTasks`
 * @throws what reading the tasks throws, and Error where a thread dies
 */
export async function* runOnThreads<T extends { readonly task: Task }>(
  tasks: AsyncIterable<T>,
  trust: TrustTexts,
  file: URL,
): AsyncGenerator<T & { readonly done: Done[][] }> {
  const threads: Thread[] = []
  const pending: Promise<T & { readonly done: Done[][] }>[] = []
  const iterator = tasks[Symbol.asyncIterator]()
  const count = Math.min(availableParallelism(), THREADS_MAX)
  try {
    const [first, second] = [await iterator.next(), await iterator.next()]
    if (first.done !== true && second.done === true) {
      yield { ...first.value, done: runTask(first.value.task, trustedBy(trust)) }
      return
    }
    const ahead = [first, second]
    for (let next = ahead.shift(); next !== undefined && next.done !== true;) {
      const taken = next.value
      if (threads.length < count) threads.push(openThread(file, trust))
      const result = submit(threads, taken.task).then((done) => ({ ...taken, done }))
      // An error is thrown when its turn comes.
      result.catch(() => undefined)
      pending.push(result)
      if (pending.length >= count * TASKS_OF_A_THREAD) yield await (pending.shift() as typeof result)
      next = ahead.shift() ?? (await iterator.next())
    }
    for (const one of pending) yield await one
  } finally {
    await iterator.return?.()
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }
}

function openThread(file: URL, trust: TrustTexts): Thread {
  const data: ThreadData = { countersignVerify: trust }
  const thread: Thread = { worker: new Worker(file, { workerData: data, argv: [] }), waiting: [] }
  const fail = (error: Error) => {
    for (const { reject } of thread.waiting.splice(0)) reject(error)
  }
  thread.worker.on('message', (done: Done[][]) => thread.waiting.shift()?.resolve(done))
  thread.worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))))
  thread.worker.on('exit', () => fail(new Error('A thread of the verifier ended early.')))
  return thread
}

function submit(threads: readonly Thread[], task: Task): Promise<Done[][]> {
  const [least] = threads.toSorted((a, b) => a.waiting.length - b.waiting.length)
  if (least === undefined) throw new Error('no thread')
  return new Promise((resolve, reject) => {
    least.waiting.push({ resolve, reject })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    least.worker.postMessage(task)
  })
}
