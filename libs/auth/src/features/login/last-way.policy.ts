/**
 * Decides whether a way to sign in is the last one of its user. Pure. What is no way any more, such as the account at a provider
 * that the options do not name, can always be removed.
 *
 * @param ways all ways of the user, each by its kind and its id: `password`, `passkey:<id>`
 */
export const isLastWay = (removed: string, ways: readonly string[]): boolean =>
  ways.includes(removed) && ways.every((way) => way === removed);
