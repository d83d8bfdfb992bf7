// Tells the stories: as many as go at once, to find saturation, or so many a second, whatever has become of those before.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../../src/core/error-text.ts'
import { Unexpected } from './client.ts'
import type { Story, World } from './story.ts'

export interface Drive {
  /** Each story once, one after the other. */
  readonly once: () => Promise<void>
  /** out  stories told per second */
  readonly saturate: (seconds: number) => Promise<number>
  /** Returns when the last of them has ended. in  tick  called ten times a second */
  readonly pace: (asked: { perSecond: number; seconds: number; tick: () => void }) => Promise<void>
  /** What was not as a story says, beside unexpected statuses. */
  readonly problems: readonly string[]
  readonly told: ReadonlyMap<string, number>
}

const TELLERS = 32
const PROBLEMS_MAX = 50
/** A service that answers nothing must not fill the memory of who asks. */
const UNDER_WAY_MAX = 2_000
/** Rare stories begin one after the other, not all at once. */
const STAGGER_MS = 250

export function openDrive(mix: readonly Story[], world: World, signal: AbortSignal): Drive {
  const told = new Map<string, number>()
  const problems: string[] = []
  const pick = weighted(mix)
  const rare = mix.flatMap((story) => ('everySeconds' in story.pace ? [{ story, ...story.pace }] : []))

  async function tell(story: Story): Promise<void> {
    told.set(story.name, (told.get(story.name) ?? 0) + 1)
    try {
      await story.tell(world)
    } catch (error) {
      // The client has noted those that are no mistake of the story.
      if (error instanceof Unexpected || problems.length >= PROBLEMS_MAX) return
      problems.push(`it ${story.name}: ${errorText(error)}`)
    }
  }

  return {
    told,
    problems,
    async once() {
      for (const story of mix) await tell(story)
    },
    async saturate(seconds) {
      const startMs = performance.now()
      let count = 0
      const teller = async () => {
        for (; performance.now() - startMs < seconds * 1000 && !signal.aborted; count++) await tell(pick())
      }
      await Promise.all(Array.from({ length: TELLERS }, teller))
      return (count * 1000) / (performance.now() - startMs)
    },
    async pace({ perSecond, seconds, tick }) {
      const underWay = new Set<Promise<void>>()
      let untold = 0
      const start = (story: Story) => {
        if (underWay.size >= UNDER_WAY_MAX) {
          untold++
          return
        }
        const telling = tell(story).finally(() => underWay.delete(telling))
        underWay.add(telling)
      }
      const startMs = performance.now()
      const due = rare.map(({ story, everySeconds }, i) => ({ story, everySeconds, atMs: i * STAGGER_MS }))
      let nextTickMs = 0
      for (let count = 0; ;) {
        const nowMs = performance.now() - startMs
        if (nowMs >= seconds * 1000 || signal.aborted) break
        for (; count < (nowMs / 1000) * perSecond; count++) start(pick())
        for (const one of due) {
          if (one.atMs > nowMs) continue
          one.atMs += one.everySeconds * 1000
          start(one.story)
        }
        if (nowMs >= nextTickMs) {
          nextTickMs = nowMs + 100
          tick()
        }
        await sleep(5)
      }
      await Promise.all(underWay)
      if (untold > 0)
        problems.push(
          `${untold} stories were not told, with ${UNDER_WAY_MAX} under way: it cannot keep up with the rate`,
        )
    },
  }
}

/** Any of those with a weight, in proportion. */
function weighted(mix: readonly Story[]): () => Story {
  let total = 0
  const upTo = mix.flatMap((story) =>
    'weight' in story.pace ? [{ story, end: (total += story.pace.weight) }] : [],
  )
  return () => {
    const at = Math.random() * total
    const found = upTo.find(({ end }) => at < end)
    if (found === undefined) throw new Error('the mix is empty')
    return found.story
  }
}
