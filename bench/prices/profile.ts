import type { Profiler } from 'node:inspector';

/** What the processor time of a request is spent on, in the order of output. */
export const ITEMS = [
  'Node.js: HTTP, sockets, streams',
  'Express or Fastify',
  'Nest',
  'rxjs',
  'the library: gates and limiter',
  'the library: body, tokens, delivery',
  'the library: the operation itself',
  'the library: stores, deadlines, batches',
  'the library: log, metrics, events',
  'JSON Web Tokens (jsonwebtoken)',
  'HMAC, SHA-256, random ids',
  'the client of PostgreSQL',
  'the client of Redis',
  'writes to PostgreSQL',
  'writes to Redis',
  'writes of answers',
  'promises, timers, contexts',
  'garbage collection',
  'the rest of the process',
] as const;

export type Item = (typeof ITEMS)[number];

/** The first pattern that the place of a function matches. */
const PLACES: readonly [pattern: RegExp, item: Item][] = [
  [
    /node_modules\/(express|router|body-parser|raw-body|finalhandler|send|qs|type-is|accepts|etag|fresh|forwarded|proxy-addr|path-to-regexp|content-type|media-typer|negotiator|debug|on-finished|vary|cookie)\//,
    'Express or Fastify',
  ],
  [
    /node_modules\/(fastify|@fastify|find-my-way|light-my-request|avvio|secure-json-parse|fast-[\w-]+|pino|process-warning)\//,
    'Express or Fastify',
  ],
  [/node_modules\/@nestjs\/jwt\//, 'JSON Web Tokens (jsonwebtoken)'],
  [
    /node_modules\/(jsonwebtoken|jws|jwa|lodash\.[\w]+|safe-buffer|buffer-equal-constant-time|ecdsa-sig-formatter)\//,
    'JSON Web Tokens (jsonwebtoken)',
  ],
  [/node_modules\/(@nestjs|reflect-metadata)\//, 'Nest'],
  [/node_modules\/rxjs\//, 'rxjs'],
  [/node_modules\/(pg|pg-[\w-]+|postgres-[\w-]+|typeorm|@nestjs\/typeorm)\//, 'the client of PostgreSQL'],
  [/node_modules\/(@redis|redis|cluster-key-slot)\//, 'the client of Redis'],
  [
    /auth\/src\/(request\/(gates|throttling|lockout|abilities)|identity\/(denylist|users))\//,
    'the library: gates and limiter',
  ],
  [/auth\/src\/(request\/(http|routes)|identity\/tokens)\//, 'the library: body, tokens, delivery'],
  [/auth\/src\/foundation\/(observability|realm|languages)\//, 'the library: log, metrics, events'],
  [/auth\/src\/foundation\//, 'the library: stores, deadlines, batches'],
  [/auth\/src\//, 'the library: the operation itself'],
  [/^node:(internal\/crypto|crypto)/, 'HMAC, SHA-256, random ids'],
  [/^node:(internal\/(timers|process|async|promise)|async_hooks|timers)/, 'promises, timers, contexts'],
];

const CORE: Item = 'Node.js: HTTP, sockets, streams';
const REST: Item = 'the rest of the process';
const WRITES: Partial<Record<Item, Item>> = {
  'the client of PostgreSQL': 'writes to PostgreSQL',
  'the client of Redis': 'writes to Redis',
};

const ofPlace = (url: string): Item | undefined => PLACES.find(([pattern]) => pattern.test(url))?.[1];

/**
 * The share of each item in the time in which the process was not idle, without the benchmark itself. Time in code of Node.js
 * counts for the package that called it.
 */
export function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Record<Item, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const micros = new Map<number, number>();
  samples.forEach((id, i) => micros.set(id, (micros.get(id) ?? 0) + timeDeltas[i]!));

  const itemOf = (id: number): Item | undefined => {
    const { functionName, url } = byId.get(id)!.callFrame;
    if (functionName === '(idle)') return undefined;
    if (functionName === '(garbage collector)') return 'garbage collection';
    if (functionName === '(program)') return REST;
    if (functionName === 'runMicrotasks') return 'promises, timers, contexts';
    const caller = callerOf(id);
    if (/^write(v|Latin1String|Utf8String|Buffer)$/.test(functionName) && url === '')
      return WRITES[caller] ?? 'writes of answers';
    return ofPlace(url) ?? caller;
  };
  /** The item of the nearest caller that is no code of Node.js. */
  const callerOf = (id: number): Item => {
    for (let at = parents.get(id); at !== undefined; at = parents.get(at)) {
      const { url } = byId.get(at)!.callFrame;
      const item = url.startsWith('node:') ? undefined : ofPlace(url);
      if (item) return item;
      if (/\/bench\//.test(url)) return REST;
    }
    return CORE;
  };

  const sums = Object.fromEntries(ITEMS.map((item) => [item, 0])) as Record<Item, number>;
  for (const [id, time] of micros) {
    const item = itemOf(id);
    if (item) sums[item] += time;
  }
  const all = Object.values(sums).reduce((sum, one) => sum + one, 0);
  return Object.fromEntries(ITEMS.map((item) => [item, sums[item] / all])) as Record<Item, number>;
}
