// Browser-safe.

/** Makes the value at the first call. If `make` throws, each call throws. */
export function lazy<T>(make: () => T): () => T {
  let made: (() => T) | undefined
  return () => {
    if (made === undefined) {
      try {
        const value = make()
        made = () => value
      } catch (error) {
        made = () => {
          throw error
        }
      }
    }
    return made()
  }
}
