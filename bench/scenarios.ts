import type { Tokens } from './apps/serve';
import type { Connection } from './load';
import type { Server } from './server';
import { ADA } from './stores';

/** One way to answer one kind of request. */
export interface Scenario {
  group: 'guarded' | 'refresh' | 'login';
  name: string;
  server: Server;
  method: 'GET' | 'POST';
  path: string;
  /** Fresh connections: a sample ends in the middle of a chain of tokens, and nobody has its last link. */
  connections(count: number): Promise<Connection[]>;
}

/** Every scenario, by a short key that {@link RATIOS} refers to. */
export type Scenarios = Record<string, Scenario>;

/** The scenarios of our application and of the hand-rolled one; of one group, where `only` names it. */
export function scenariosOf(ours: Server, handRolled: Server, only?: string): Scenarios {
  const all: Scenarios = {
    ours: guarded('ours: `@Authenticated()`', ours, '', '/guarded'),
    empty: guarded('empty route of the same app', ours, '', '/empty'),
    string: guarded('hand-rolled, string secret', handRolled, '/string', '/string/guarded'),
    keyObject: guarded('hand-rolled, KeyObject', handRolled, '/key-object', '/key-object/guarded'),
    oursRefresh: refresh('ours: `POST /auth/refresh`', ours, '', '/auth/refresh'),
    stringRefresh: refresh('hand-rolled, string secret', handRolled, '/string', '/string/refresh'),
    keyObjectRefresh: refresh('hand-rolled, KeyObject', handRolled, '/key-object', '/key-object/refresh'),
    oursLogin: login('ours: `POST /auth/login`', ours, '/auth/login'),
    argon2Login: login('hand-rolled, `argon2`', handRolled, '/string/login/argon2'),
    nodeRsLogin: login('hand-rolled, `@node-rs/argon2`', handRolled, '/string/login/node-rs'),
  };
  return Object.fromEntries(Object.entries(all).filter(([, { group }]) => only === undefined || group === only));
}

/** A comparison the project cares about: throughput of one scenario over that of another. */
export interface Ratio {
  of: string;
  to: string;
  /** The least that is good enough; absent where the figure only informs. */
  bar?: number;
}

/** The comparisons, in the order they are printed. */
export const RATIOS: readonly Ratio[] = [
  { of: 'ours', to: 'empty', bar: 0.5 },
  { of: 'ours', to: 'string', bar: 3 },
  { of: 'ours', to: 'keyObject' },
  { of: 'oursRefresh', to: 'stringRefresh' },
  { of: 'oursRefresh', to: 'keyObjectRefresh' },
  { of: 'oursLogin', to: 'argon2Login' },
  { of: 'oursLogin', to: 'nodeRsLogin' },
];

const JSON_BODY = { 'content-type': 'application/json' };

/** The empty route gets the token too, so that the requests weigh the same. */
function guarded(name: string, server: Server, prefix: string, path: string): Scenario {
  const connections = async (count: number): Promise<Connection[]> =>
    (await server.sessions(prefix, count)).map(({ access_token }) => ({
      headers: { authorization: `Bearer ${access_token}` },
    }));
  return { group: 'guarded', name, server, method: 'GET', path, connections };
}

const refreshBody = ({ refresh_token }: Tokens): string => JSON.stringify({ refresh_token });
const nextRefresh = (answer: string): string => refreshBody(JSON.parse(answer) as Tokens);

/** Each connection follows its own chain of tokens. */
function refresh(name: string, server: Server, prefix: string, path: string): Scenario {
  const connections = async (count: number): Promise<Connection[]> =>
    (await server.sessions(prefix, count)).map((tokens) => ({
      headers: JSON_BODY,
      body: refreshBody(tokens),
      follow: nextRefresh,
    }));
  return { group: 'refresh', name, server, method: 'POST', path, connections };
}

const loginConnections = async (count: number): Promise<Connection[]> =>
  Array.from({ length: count }, () => ({ headers: JSON_BODY, body: JSON.stringify(ADA) }));

const login = (name: string, server: Server, path: string): Scenario => ({
  group: 'login',
  name,
  server,
  method: 'POST',
  path,
  connections: loginConnections,
});
