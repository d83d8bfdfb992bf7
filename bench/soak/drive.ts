// Tells the stories: as many at once as possible, to find saturation, or at a fixed rate, even if earlier stories have not ended.
import { setTimeout as sleep } from 'node:timers/promises'
import { errorText } from '../../src/formats/text/error-text.ts'
import { weighted } from '../pick.ts'
import type { Story, World } from './story.ts'

const TELLERS = 32
const PROBLEMS_MAX = 50
/** A service that answers nothing must not fill the memory of the bench. */
const UNDER_WAY_MAX = 2_000
/** Rare stories begin one after the other, not all at once. */
const STAGGER_MS = 250

export function openDrive(mix: readonly Story[], world: World, signal: AbortSignal) {
  const problems: string[] = []
  let problemCount = 0
  const pick = weighted(mix.filter((story) => 'weight' in story))

  function note(problem: string): void {
    if (problemCount++ < PROBLEMS_MAX) problems.push(problem)
  }

  const tell = (story: Story): Promise<unknown> =>
    story.tell(world).catch((error: unknown) => note(`it ${story.name}: ${errorText(error)}`))

  return {
    /** @returns the first problems of stories, and how many more there are */
    problems() {
      const more = problemCount - problems.length
      return more === 0 ? problems : [...problems, `and ${more} more stories went wrong`]
    },
    problemCount: () => problemCount,
    /** Tells each story once, one after the other. */
    async once() {
      for (const story of mix) await tell(story)
    },
    /** @returns stories told per second */
    async saturate(seconds: number) {
      const startMs = performance.now()
      let count = 0
      const teller = async () => {
        for (; performance.now() - startMs < seconds * 1000 && !signal.aborted; count++) await tell(pick())
      }
      await Promise.all(Array.from({ length: TELLERS }, teller))
      return (count * 1000) / (performance.now() - startMs)
    },
    /** Resolves when the last story has ended. */
    async pace(perSecond: number, seconds: number) {
      const underWay = new Set<Promise<unknown>>()
      const start = (story: Story) => {
        if (underWay.size >= UNDER_WAY_MAX)
          return note(`it cannot keep up: ${UNDER_WAY_MAX} stories are under way`)
        const telling = tell(story).finally(() => underWay.delete(telling))
        underWay.add(telling)
      }
      const rare = mix.filter((story) => 'everySeconds' in story)
      const due = rare.map((story, i) => ({ story, atMs: i * STAGGER_MS }))
      const startMs = performance.now()
      for (let count = 0; ; await sleep(5)) {
        const nowMs = performance.now() - startMs
        if (nowMs >= seconds * 1000 || signal.aborted) break
        for (; count < (nowMs / 1000) * perSecond; count++) start(pick())
        for (const one of due.filter(({ atMs }) => atMs <= nowMs)) {
          one.atMs += one.story.everySeconds * 1000
          start(one.story)
        }
      }
      await Promise.all(underWay)
    },
  }
}

export type Drive = ReturnType<typeof openDrive>
