// What cannot be checked, as against what is wrong: a command exits 2 for it, and 1 for the other.
export class CannotCheck extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CannotCheck'
  }
}
