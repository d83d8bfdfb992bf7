/** Evidence that cannot be verified at all, valid or not; its message says what the text is and what to do instead. */
export class Unusable extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Unusable'
  }
}
