// At which shares of all requests a latency distribution is kept.

export const DISTRIBUTION_SHARES = [
  0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9999, 1,
] as const
