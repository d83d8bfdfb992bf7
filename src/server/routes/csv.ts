// Rows of a list as comma-separated values (RFC 4180), for spreadsheets.
import { Type } from 'typebox'
import { lineOf, type Cell } from '../../formats/text/csv.ts'
import { acceptsType } from './preferences.ts'
import type { Format } from './lines.ts'
import type { RouteRequest } from '../route.ts'

export const CSV = 'text/csv'

export type Cells = Readonly<Record<string, Cell>>

/** The columns of a list, in order. */
export interface Csv<Row> {
  readonly columns: readonly string[]
  readonly cellsOf: (row: Row) => Cells
}

export function wantsCsv(request: RouteRequest): boolean {
  return acceptsType(request, CSV)
}

/** The OpenAPI description of such an export. */
export const csvShape = ({ columns }: Pick<Csv<never>, 'columns'>) => ({
  [CSV]: {
    schema: Type.String({
      description:
        'One line for each entry, below a line of column names. CSV cannot show whether the export is complete: use NDJSON for that.',
    }),
    example: `${columns.join(',')}\r\n`,
  },
})

export function csvFormat<Row>({ columns, cellsOf }: Csv<Row>): Format<Row> {
  return {
    contentType: `${CSV}; charset=utf-8; header=present`,
    head: lineOf(columns),
    textOf(row) {
      const cells = cellsOf(row)
      return lineOf(columns.map((column) => cells[column] ?? null))
    },
    foot: () => '',
  }
}
