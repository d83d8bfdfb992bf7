// countersign bench: the suite of bench/, which is installed with the command.

/**
 * @param args as typed behind `bench`
 * @returns the exit code: 0, 1 something was wrong, 3 a threshold was missed
 */
export async function benchCommand(args: readonly string[]): Promise<number> {
  // No other command needs these modules.
  const { main } = await import('../../bench/index.ts')
  return main(args, 'countersign bench')
}
