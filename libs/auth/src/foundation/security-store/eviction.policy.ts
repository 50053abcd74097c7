/**
 * Reads the `maxmemory-policy` from a reply of Redis. The reply to `CONFIG GET` is a list in RESP2 and a map in RESP3,
 * the reply to `INFO` is a text. Null when the reply does not contain it.
 */
export function policyIn(answer: unknown): string | null {
  const entries = answer instanceof Map ? Object.fromEntries(answer) : answer;
  if (typeof entries === 'string') return /^maxmemory_policy:(\S+)/m.exec(entries)?.[1] ?? null;
  const [name, value] = Array.isArray(entries) ? entries : (Object.entries(Object(entries))[0] ?? []);
  return name === 'maxmemory-policy' && typeof value === 'string' ? value : null;
}

/**
 * Describes the problem with an eviction policy and its correction; null for `noeviction`. Every key of the library has
 * a time to live, so that the policies `volatile-*` evict them too.
 */
export function evictionProblem(policy: string | null): string | null {
  if (policy === 'noeviction') return null;
  if (policy === null) {
    return 'Redis does not report its maxmemory-policy. Make sure that it is noeviction: after the eviction of a denylist entry, a revoked token is accepted.';
  }
  return (
    `The maxmemory-policy of Redis is ${policy}, which evicts entries of the denylist: a revoked token would be ` +
    'accepted. Set maxmemory-policy to noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration), ' +
    'or give the library a Redis of its own.'
  );
}
