import { PEOPLE } from '../apps/serve';
import type { Load } from '../load';
import type { Server } from '../server';
import { type Group, type Scenario, bearer, loaded } from './group';

/** The number of users in one sample, one after the other. */
const USERS = 25;

/** The end of all sessions, for users with one session and with many. The latency is measured. */
export const REVOKE: Group = {
  title: 'Revocation of all sessions',
  async scenarios(bench) {
    const server = await bench.start('ours');
    // Each sample uses new users, until all have been used.
    let user = 0;
    const next = (): number => (user++ % PEOPLE) + 1;
    const of = (name: string, sessions: number): Scenario => loaded(bench, revokeAll(name, server, sessions, next), 1);
    return { one: of('ours, 1 session, Express', 1), fifty: of('ours, 50 sessions, Express', 50) };
  },
};

const revokeAll = (name: string, server: Server, sessions: number, next: () => number): Load => ({
  name,
  server,
  method: 'DELETE',
  path: '/auth/sessions',
  isScarce: true,
  async connections() {
    const turns: Record<string, string>[] = [];
    for (let i = 0; i < USERS; i++) turns.push(bearer((await server.sessions('', sessions, next()))[0]!));
    return [{ headers: {}, turns }];
  },
});
