import type { Cleanup } from '../cleanup';
import { type Connection, type Load, type Sample, sample } from '../load';
import type { Adapter, Server } from '../server';
import type { Settings } from '../settings';
import { type Stores, personOf } from '../stores';
import { PEOPLE, type Tokens } from '../apps/serve';

/** What the scenarios of a group are built from. */
export interface Bench {
  settings: Settings;
  stores: Stores;
  cleanup: Cleanup;
  /** Starts `bench/apps/{app}.ts`. The server is stopped after the group. */
  start(app: string, how?: { adapter?: Adapter; [variable: string]: string | undefined }): Promise<Server>;
}

/** One row of a table. */
export interface Scenario {
  name: string;
  sample(seconds: number): Promise<Sample>;
  /** The load whose store calls are counted. */
  load?: Load;
  /** Whether wrong passwords of an existing and of an unknown user are timed. */
  timed?: boolean;
}

/** The scenarios of a group, by the short key that the bars use. */
export type Scenarios = Record<string, Scenario>;

/** Scenarios that are compared with each other and therefore measured alternately. */
export interface Group {
  title: string;
  /** What the report says below the tables. */
  note?: string;
  /** Starts the servers. */
  scenarios(bench: Bench): Promise<Scenarios>;
}

export const NAMES: Readonly<Record<Adapter, string>> = { express: 'Express', fastify: 'Fastify' };

/** The connections to PostgreSQL of the bare server. */
export const BARE = { pool: 'pool of 10 connections', pipelined: 'one pipelined connection' };

/** Requests to a server, over the configured number of connections. */
export const loaded = ({ settings, stores }: Bench, load: Load, connections = settings.connections): Scenario => ({
  name: load.name,
  load,
  sample: (seconds) => sample(load, seconds, { connections, stores }),
});

const JSON_BODY = { 'content-type': 'application/json' };

export const bearer = ({ access_token }: Pick<Tokens, 'access_token'>): Record<string, string> => ({
  authorization: `Bearer ${access_token}`,
});

/** A request with a token. An empty route gets one too, so that the requests have the same size. */
export function guarded(name: string, server: Server, prefix: string, path: string): Load {
  const connections = async (count: number): Promise<Connection[]> =>
    (await server.sessions(prefix, count)).map((tokens) => ({ headers: bearer(tokens) }));
  return { name, server, method: 'GET', path, connections };
}

const refreshBody = ({ refresh_token }: Tokens): string => JSON.stringify({ refresh_token });
const nextRefresh = (answer: string): string => refreshBody(JSON.parse(answer) as Tokens);

/** Each connection follows its own chain of tokens. */
export function refresh(name: string, server: Server, prefix: string, path: string): Load {
  const connections = async (count: number): Promise<Connection[]> =>
    (await server.sessions(prefix, count)).map((tokens) => ({
      headers: JSON_BODY,
      body: refreshBody(tokens),
      follow: nextRefresh,
    }));
  return { name, server, method: 'POST', path, connections };
}

/**
 * Each login is one of the next user, because logins of one user wait for each other. A user with as many sessions as
 * `sessions.maxPerUser` would be unusual, and the login that ends one of them is slower.
 */
export function login(name: string, server: Server, path: string): Load {
  let person = 0;
  const body = (): string => JSON.stringify(personOf((person++ % PEOPLE) + 1));
  const connections = async (count: number): Promise<Connection[]> =>
    Array.from({ length: count }, () => ({ headers: JSON_BODY, body: body(), follow: body }));
  return { name, server, method: 'POST', path, connections };
}
