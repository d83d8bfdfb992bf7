// Answers that several operations have: web pages and the files they load.
import { Type } from 'typebox'
import type { AnswerShape } from './operation.ts'

const Html = Type.String({ description: 'HTML' })
const Code = Type.String({ description: 'the text of a file' })

export function pageAnswer(description: string): AnswerShape {
  return {
    description,
    schema: Html,
    example: '<!doctype html>',
    contentType: 'text/html',
    headers: ['Content-Security-Policy'],
    kept: true,
  }
}

/** @param others further content types that the files of this route have */
export function fileAnswer(
  contentType: 'text/css' | 'text/javascript',
  others: readonly string[] = [],
): AnswerShape {
  return {
    description: 'The file.',
    schema: Code,
    example: '/* … */',
    contentType,
    otherContentTypes: others,
    kept: true,
  }
}
