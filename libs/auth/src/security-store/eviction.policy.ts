/**
 * The `maxmemory-policy` in an answer of Redis: to `CONFIG GET` a list in RESP2 and a map in RESP3, to `INFO` a
 * text. Null where it says nothing of it.
 */
export function policyIn(answer: unknown): string | null {
  const entries = answer instanceof Map ? Object.fromEntries(answer) : answer;
  if (typeof entries === 'string') return /^maxmemory_policy:(\S+)/m.exec(entries)?.[1] ?? null;
  const [name, value] = Array.isArray(entries) ? entries : (Object.entries(Object(entries))[0] ?? []);
  return name === 'maxmemory-policy' && typeof value === 'string' ? value : null;
}

/** What is wrong with a policy, with its cure; null where nothing is. Every key of ours has a time to live, so `volatile-*` evicts them too. */
export function evictionProblem(policy: string | null): string | null {
  if (policy === 'noeviction') return null;
  if (policy === null) {
    return 'Redis does not tell its maxmemory-policy. Make sure that it is noeviction: an evicted entry of the denylist is a revoked token that is accepted.';
  }
  return (
    `The maxmemory-policy of Redis is ${policy}, which evicts entries of the denylist: a revoked token would be ` +
    'accepted. Set maxmemory-policy to noeviction (CONFIG SET maxmemory-policy noeviction, and in its configuration), ' +
    'or give the library a Redis of its own.'
  );
}
