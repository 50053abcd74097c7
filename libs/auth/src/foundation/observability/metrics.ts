/** Histogram boundaries in seconds: from a cached look-up to a login behind a full hash queue. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @param unit in UCUM notation */
const counter = (unit: string, description: string) => ({ kind: 'counter' as const, unit, description });

const duration = (description: string) => ({
  kind: 'histogram' as const,
  unit: 's',
  description,
  advice: { explicitBucketBoundaries: BUCKETS },
});

/** All metrics. Attribute values come from closed lists and never contain users, addresses or tokens. */
export const METRICS = {
  'svc.auth.operation.duration': duration(
    'Requests to the routes of the library that passed the gates, by operation and outcome.',
  ),
  'svc.auth.guard.refusals': counter('{refusal}', 'Requests that a gate before a route refused, by reason.'),
  'svc.auth.rate_limit.refusals': counter('{refusal}', 'Requests refused with 429.'),
  'svc.auth.refresh_token.reuses': counter('{reuse}', 'Refresh tokens that were used again after the grace period.'),
  'svc.auth.sessions.started': counter('{session}', 'Sessions that started.'),
  'svc.auth.sessions.ended': counter('{session}', 'Sessions that ended, by reason.'),
  'svc.auth.sessions.recovered': counter(
    '{session}',
    'Sessions that continued after PostgreSQL had lost some of their rotations.',
  ),
  'svc.auth.account.locks': counter('{lock}', 'Locks that were set.'),
  'svc.auth.mail.failures': counter('{mail}', 'Mails that were not sent.'),
  'svc.auth.hash.duration': duration('Duration of password hashes, without the wait for a thread.'),
  'svc.auth.hash.wait.duration': duration('Time that password hashes waited for a thread.'),
  'svc.auth.hash.queue.length': {
    kind: 'upDownCounter',
    unit: '{hash}',
    description: 'Password hashes that wait for a thread.',
  },
  'svc.auth.hash.refusals': counter(
    '{hash}',
    'Password hashes that were refused because too many waited, or one waited too long.',
  ),
} as const;

export type MetricName = keyof typeof METRICS;
