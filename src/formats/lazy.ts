// Browser-safe.

/** Made at the first call; where that throws, each call does. */
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
