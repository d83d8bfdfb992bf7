// Files of the command line: checked before anything is measured, and written when the report is printed.
import { accessSync, constants, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Report } from './report.ts'

export interface Output {
  /** The option that asks for the file: `--json`. */
  readonly option: string
  /** Undefined where the option was not given. */
  readonly file: string | undefined
  readonly render: (report: Report) => string
}

/** @throws Error that names the option: a run of half an hour must not end without its report */
export function checkOutputs(outputs: readonly Output[]): void {
  for (const { option, file } of outputs) {
    if (file === undefined) continue
    const known = statSync(file, { throwIfNoEntry: false })
    if (known?.isDirectory() === true) throw new Error(`${option} ${file}: that is a folder`)
    try {
      accessSync(known === undefined ? dirname(resolve(file)) : file, constants.W_OK)
    } catch (error) {
      throw new Error(`${option} ${file}: cannot be written, ${(error as Error).message}`, { cause: error })
    }
  }
}

/** Writes each file by itself, and returns a sentence for each file that could not be written. */
export function writeOutputs(report: Report, outputs: readonly Output[]): string[] {
  return outputs.flatMap(({ option, file, render }) => {
    try {
      if (file !== undefined) writeFileSync(file, render(report))
      return []
    } catch (error) {
      return [`${option} ${file}: ${(error as Error).message}`]
    }
  })
}
