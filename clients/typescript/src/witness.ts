// Requests of a witness: a client reads the log before it sends an execution.

/** Made by `openLogWitness` of `countersign-client/log-witness`. */
export interface LogWitness {
  /**
   * Checks the log, if a check is due.
   * @param get sends a request to an open route of the service, by its path
   * @throws LogContradictionError, and Error where no trusted key signed the checkpoint: nothing is executed then
   */
  readonly check: (get: (path: string) => Promise<Response>) => Promise<void>
}
