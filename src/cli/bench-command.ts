// countersign bench: the suite of bench/, run from wherever the command is. What it measures and how stands there.
import { existsSync } from 'node:fs'

/**
 * in   args  as typed behind `bench`
 * out  the exit code: 0, 1 something was wrong, 3 a threshold was missed
 * fails with a sentence where the suite is not there, as in the container image
 */
export async function benchCommand(args: readonly string[]): Promise<number> {
  const suite = new URL('../../bench/index.ts', import.meta.url)
  if (!existsSync(suite))
    throw new Error(
      'the bench is not part of this installation. Clone the repository, run npm ci, and measure from there with --url.',
    )
  const { main } = (await import(suite.href)) as {
    main: (args: readonly string[], name: string) => Promise<number>
  }
  return main(args, 'countersign bench')
}
