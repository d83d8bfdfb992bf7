// The files that a report is written to: looked at before anything is measured, written when the table stands in the terminal.
import { accessSync, constants, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface Output<Result> {
  /** By which it was asked for: `--json`. */
  readonly option: string
  /** Undefined where it was not. */
  readonly file: string | undefined
  readonly render: (report: Result) => string
}

/** fails with a sentence that names the option: a run of half an hour must not end without its report */
export function checkOutputs(outputs: readonly Output<never>[]): void {
  for (const { option, file } of outputs) {
    if (file === undefined) continue
    const known = statSync(file, { throwIfNoEntry: false })
    if (known?.isDirectory() === true) throw new Error(`${option} ${file}: that is a folder`)
    const needed = known === undefined ? dirname(resolve(file)) : file
    try {
      accessSync(needed, constants.W_OK)
    } catch (error) {
      throw new Error(`${option} ${file}: cannot be written, ${(error as Error).message}`, { cause: error })
    }
  }
}

/** Each by itself: where one cannot be written, the others are. out  a sentence for each that could not */
export function writeOutputs<Result>(report: Result, outputs: readonly Output<Result>[]): string[] {
  return outputs.flatMap(({ option, file, render }) => {
    if (file === undefined) return []
    try {
      writeFileSync(file, render(report))
      return []
    } catch (error) {
      return [`${option} ${file}: ${(error as Error).message}`]
    }
  })
}

export const json = (file: string | undefined): Output<unknown> => ({
  option: '--json',
  file,
  render: (report) => `${JSON.stringify(report, null, 2)}\n`,
})
