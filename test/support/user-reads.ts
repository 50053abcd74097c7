import { UserProvider } from '@svc/auth';
import type { TestApp } from './app';

/** The user providers of every guard. */
export const userProvidersOf = (t: TestApp): UserProvider[] =>
  t.app.get(UserProvider, { each: true, strict: false }) as unknown as UserProvider[];

/** Counts how often a user is looked up by id, at any guard, until the test ends. */
export function readsOfUsers(t: TestApp): () => number {
  const spies = userProvidersOf(t).map((users) => jest.spyOn(users, 'findById'));
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}
