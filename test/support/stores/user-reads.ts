import { UserProvider } from '@svc/auth';
import type { TestApp } from '../hosts/app';

/** The user providers of every guard. */
export const userProvidersOf = (t: TestApp): UserProvider[] =>
  t.app.get(UserProvider, { each: true, strict: false }) as unknown as UserProvider[];

/** The methods that read a user by id. The second one also reads the session. */
const READS = ['findById', 'findWithSession'] as const;

/** Counts the reads of users by id, at any guard, until the test ends. */
export function countUserReads(t: TestApp): () => number {
  const providers = userProvidersOf(t) as unknown as Record<(typeof READS)[number], () => Promise<unknown>>[];
  const spies = providers.flatMap((users) =>
    READS.filter((name) => name in users).map((name) => jest.spyOn(users, name)),
  );
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}
